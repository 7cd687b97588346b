// ---- view: small helpers that make elements. Texts become text nodes, so that no name is ever markup.

const SVG = "http://www.w3.org/2000/svg";

function make(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === "on") for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    else if (value !== null && value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter(child => child !== null));
  return element;
}

function draw(name, attributes, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function byId(id) {
  return document.getElementById(id);
}

function button(text, listener, attributes) {
  return make("button", { type: "button", on: { click: listener }, ...attributes }, text);
}

// A labelled choice; `options`: [value, text].
function chooser(label, options, listener) {
  const select = make("select", { on: { change: () => listener(select.value) } },
    ...options.map(([value, text]) => make("option", { value }, text)));
  return make("label", {}, label + " ", select);
}

function shortName(name) {
  return name.slice(name.lastIndexOf("/") + 1);
}

function cut(text, most) {
  return text.length <= most ? text : text.slice(0, most / 2 - 1) + "\u2026" + text.slice(text.length - most / 2);
}

function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

