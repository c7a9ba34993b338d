// Reads off the page what a user sees there.
const plain = (text) => text.replace(/\u00a0/g, " ").replace(/\u200b/g, "");
const shown = (element) => element.offsetParent !== null;
const all = (selector) => [...document.querySelectorAll(selector)].filter(shown);
const texts = (selector) => all(selector).map((element) => plain(element.textContent));
const top = (element) => parseFloat(element.style.top);
const byTop = (elements) => elements.sort((one, other) => top(one) - top(other));
const label = (element) => element.getAttribute("aria-label") ?? "";
window.midstream = {
  firstGhostLine: () => texts(".editor-instance [class*='ghost-text-decoration']").join(""),
  furtherGhostLines: () =>
    byTop([...document.querySelectorAll(".editor-instance .suggest-preview-text .view-line")])
      .map((line) => plain(line.textContent)),
  lenses: () => texts(".codelens-decoration a").map((text) => text.trim()),
  status: () => all("[id$='midstream.status'] a").map(label)[0] ?? "",
  notifications: () => texts(".notification-list-item-message"),
  buttons: () => texts(".notification-list-item .monaco-button"),
  dialog: () => texts(".monaco-dialog-box").join(" "),
  pickTitle: () => texts(".quick-input-title")[0] ?? "",
  pickHint: () => all(".quick-input-filter input").map((input) => input.placeholder)[0] ?? "",
  pickPrompt: () => texts(".quick-input-message").join(" "),
  rows: () => texts(".quick-input-list .monaco-list-row"),
  menu: () => texts(".action-widget .monaco-list-row"),
  highlighted: () => document.querySelectorAll(".editor-instance .view-overlays .cdr[class*='ced-']").length,
  theme: () => document.querySelector(".monaco-workbench").className.split(" "),
  list: () => texts(".suggest-widget .monaco-list-row"),
  message: () => texts(".statusbar-item.left").join(" "),
  removed: () =>
    [...document.querySelectorAll(".editor-instance .view-line span")]
      .map((element) => getComputedStyle(element, "::after").content).filter((text) => text !== "none"),
  walkthrough: () => texts(".gettingStartedDetailsContent").join(" "),
  tabs: () => texts(".tab .label-name"),
};
