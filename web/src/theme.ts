/// Colours of the 3D view; those of the page are in style.css.
export interface Theme {
    skyTop: number;
    skyBottom: number;
    ground: number;
    grid: number;
    mesh: number;
    visited: number; // points of contacts
    touching: number;
    skyLight: number;
    groundLight: number;
}

const light: Theme = {
    skyTop: 0xf4f6f9,
    skyBottom: 0xd3dae3,
    ground: 0xe3e8ee,
    grid: 0x8b98a8,
    mesh: 0x14304f,
    visited: 0x1f63d6,
    touching: 0xe01b12,
    skyLight: 0xffffff,
    groundLight: 0x9aa4b2,
};

const dark: Theme = {
    skyTop: 0x2a303a,
    skyBottom: 0x12151a,
    ground: 0x20262e,
    grid: 0x5c6878,
    mesh: 0xb8d8ff,
    visited: 0x4c97ff,
    touching: 0xff3b30,
    skyLight: 0xdfe8f5,
    groundLight: 0x39414c,
};

const preference = matchMedia("(prefers-color-scheme: dark)");

export function currentTheme(): Theme {
    return preference.matches ? dark : light;
}

export function onThemeChange(changed: () => void): void {
    preference.addEventListener("change", changed);
}
