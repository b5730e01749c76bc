const kVolume = 0.5;
const kRise = 0.002; // s
const kFall = 0.03;
const kLowest = 120; // Hz, of strokes
const kHighest = 1400; // of knocks

/// The sound of contact, in place of feeling it: noise that is the louder and brighter the faster
/// the force in the hand changes.
export class ContactSound {
    private context: AudioContext | null = null;
    private gain: GainNode | null = null;
    private filter: BiquadFilterNode | null = null;
    private isWanted = false;

    get isOn(): boolean {
        return this.isWanted;
    }

    /// Browsers begin a sound only where a person asked for it: called by a click.
    setOn(isOn: boolean): void {
        this.isWanted = isOn;
        if (isOn && !this.context) this.build();
        if (isOn) void this.context!.resume();
        else void this.context?.suspend();
    }

    /// Of the force rate, 0 … 1.
    play(level: number): void {
        if (!this.isWanted || !this.context) return;
        const now = this.context.currentTime;
        const { gain } = this.gain!;
        gain.cancelScheduledValues(now);
        gain.setTargetAtTime(kVolume * level * level, now, kRise);
        // silence when nothing follows
        gain.setTargetAtTime(0, now + 0.03, kFall);
        const pitch = kLowest * (kHighest / kLowest) ** level;
        this.filter!.frequency.setTargetAtTime(pitch, now, kRise);
    }

    private build(): void {
        const context = new AudioContext({ latencyHint: "interactive" });
        const noise = context.createBuffer(1, context.sampleRate, context.sampleRate);
        const samples = noise.getChannelData(0);
        for (let i = 0; i < samples.length; ++i) samples[i] = 2 * Math.random() - 1;
        const source = context.createBufferSource();
        source.buffer = noise;
        source.loop = true;
        this.filter = context.createBiquadFilter();
        this.filter.type = "lowpass";
        this.filter.frequency.value = kLowest;
        this.gain = context.createGain();
        this.gain.gain.value = 0;
        source.connect(this.filter).connect(this.gain).connect(context.destination);
        source.start();
        this.context = context;
    }
}
