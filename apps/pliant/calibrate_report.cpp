#include "calibrate_report.h"

#include <cmath>
#include <cstdio>

#include "output.h"
#include "pliant/core/json_writer.h"
#include "pliant/core/version.h"
#include "reproduce/plot.h"
#include "reproduce/report.h"

namespace pliant::cli {
namespace {

using reproduce::Cell;
using reproduce::Series;
using reproduce::Stroke;

bool is_fitted(const Calibration& calibration, const std::string& name) {
    for (const FittedParameter& p : calibration.fit.parameters)
        if (p.name == name) return true;
    return false;
}

/// Of `pliant build`, which makes the body that was calibrated.
std::string build_options(const Calibration& c) {
    std::string options = c.setup.size > 0 ? format("--size %.4g ", c.setup.size) : "";
    if (c.setup.kind == "particles")
        return options + format("--kind particles --stiffness %.4g --density %.4g --particles %d",
                                c.values.stiffness, c.setup.density, c.setup.num_particles);
    options += format("--fix \"%s\" --material custom --young %.4g --poisson %.4g --density %.4g",
                      c.setup.fixed.c_str(), c.values.modulus, c.values.poisson, c.setup.density);
    if (c.setup.kind == "greens") return options + " --kind greens";
    const bool is_default = c.setup.law == Law::StVenantKirchhoff;
    return options + (is_default ? "" : " --law " + std::string(to_string(c.setup.law)));
}

/// Keys of a body in a scene.
std::string scene_keys(const Calibration& c) {
    if (c.setup.kind == "particles") return format("\"stiffness\": %.4g", c.values.stiffness);
    std::string keys = format(
        "\"material\": {\"youngs_modulus\": %.4g, \"poisson_ratio\": %.4g, \"density\": %.4g}",
        c.values.modulus, c.values.poisson, c.setup.density);
    if (is_fitted(c, "damping"))
        keys += format(", \"damping\": {\"stiffness\": %.4g}", c.values.damping);
    if (c.setup.kind == "greens") keys += format(", \"mask_radius\": %.4g", c.values.mask_radius);
    return keys;
}

std::string interval_text(const FittedParameter& p) {
    if (!p.is_identified) return "not identified";
    return std::isfinite(p.high95) ? format("%.4g to %.4g", p.low95, p.high95)
                                   : "none: as many data as parameters";
}

/// What to know about a parameter; empty: nothing.
std::string remark(const FittedParameter& p) {
    if (!p.is_identified)
        return "the data do not tell " + p.name +
               ", alone or beside the others: hold it (leave it out of --fit) or measure what "
               "depends on it";
    if (p.is_at_bound)
        return p.name + " is at the end of its range: the model cannot follow the data further";
    return "";
}

std::string quality(const Calibration& c) {
    return format(
        "%zu data, %d degrees of freedom, residual %.3g %s (standard deviation), %d "
        "iterations, %d evaluations%s",
        c.data.size(), c.fit.degrees_of_freedom, c.fit.deviation,
        c.is_frequencies ? "relative" : "N", c.fit.iterations, c.fit.evaluations,
        c.fit.has_converged ? "" : "; not converged");
}

}  // namespace

std::string unit_of(const std::string& parameter) {
    return parameter == "modulus"       ? "Pa"
           : parameter == "damping"     ? "s"
           : parameter == "mask-radius" ? "m"
                                        : "";
}

void print(const Calibration& c) {
    std::printf("%s as %s, by %s\n\n", c.body.c_str(), c.setup.kind.c_str(), c.source.c_str());
    Table table({"parameter", "value", "unit", "standard error", "95 % interval"});
    for (const FittedParameter& p : c.fit.parameters)
        table.add(
            {p.name, format("%.5g", p.value), unit_of(p.name),
             std::isfinite(p.relative_error) ? format("%.2g %%", 100 * p.relative_error) : "-",
             interval_text(p)});
    table.print();
    std::printf("\n%s\n", quality(c).c_str());
    for (const FittedParameter& p : c.fit.parameters)
        if (!remark(p).empty()) std::printf("note   %s\n", remark(p).c_str());
    std::printf("build  pliant build %s %s -o model.pliant\nscene  %s\n", c.body.c_str(),
                build_options(c).c_str(), scene_keys(c).c_str());
}

std::string json_line(const Calibration& c) {
    JsonWriter json;
    json.begin_object()
        .member("body", c.body)
        .member("kind", c.setup.kind)
        .member("converged", c.fit.has_converged)
        .member("degrees_of_freedom", c.fit.degrees_of_freedom)
        .member("deviation", c.fit.deviation);
    json.key("parameters").begin_array();
    for (const FittedParameter& p : c.fit.parameters)
        json.begin_object()
            .member("name", p.name)
            .member("value", p.value)
            .member("unit", unit_of(p.name))
            .member("relative_error", p.relative_error)
            .member("low95", p.low95)
            .member("high95", p.high95)
            .member("identified", p.is_identified)
            .member("at_bound", p.is_at_bound)
            .end_object();
    json.end_array().member("build_options", build_options(c)).member("scene_keys", scene_keys(c));
    for (const auto& [name, list] :
         {std::pair{"x", &c.x}, std::pair{"data", &c.data}, std::pair{"model", &c.model}}) {
        json.key(name).begin_array();
        for (const double value : *list) json.value(value);
        json.end_array();
    }
    return json.end_object().text();
}

std::string calibration_page(const Calibration& c) {
    reproduce::Section section("calibrate", c.body + " as " + c.setup.kind);
    reproduce::Table table{"parameters",
                           "What was found",
                           {{"parameter", "parameter"},
                            {"value", "value"},
                            {"unit", "unit"},
                            {"relative_error", "standard error [%]"},
                            {"interval", "95 % interval"},
                            {"note", "note"}}};
    for (const FittedParameter& p : c.fit.parameters)
        table.add({p.name, Cell::number(p.value, "%.5g"), unit_of(p.name),
                   std::isfinite(p.relative_error) ? Cell::number(100 * p.relative_error, "%.2g")
                                                   : Cell("-"),
                   interval_text(p), remark(p)});
    section.table(table);
    section.text(quality(c));
    section.text("pliant build " + c.body + " " + build_options(c) + " -o model.pliant");
    section.text("In a scene: " + scene_keys(c));
    const double scale = c.is_frequencies ? 1 : 1e3;  // mm
    Series data{"data", {}, 0, Stroke::Dots}, model{"model", {}, 1, Stroke::Line},
        residual{"", {}, 2, Stroke::Dots};
    for (std::size_t i = 0; i < c.x.size(); ++i) {
        data.points.emplace_back(scale * c.x[i], c.data[i]);
        model.points.emplace_back(scale * c.x[i], c.model[i]);
        residual.points.emplace_back(scale * c.x[i], c.model[i] - c.data[i]);
    }
    const std::string x_label = c.is_frequencies ? "mode" : "depth [mm]";
    const std::string y_label = c.is_frequencies ? "frequency [Hz]" : "force [N]";
    section.figure({reproduce::drawn({.title = "Data and model",
                                      .x_label = x_label,
                                      .y_label = y_label,
                                      .series = {model, data}}),
                    reproduce::drawn({.title = "Residuals: model minus data",
                                      .x_label = x_label,
                                      .y_label = y_label,
                                      .series = {residual},
                                      .guides = {{0, ""}}})},
                   "Residuals that wave tell of a model that cannot have the shape of the data; "
                   "intervals count scatter alone.");
    return reproduce::html_page("Calibration", format("Written by pliant %s calibrate.", kVersion),
                                {section});
}

}  // namespace pliant::cli
