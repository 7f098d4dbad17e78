// What the theme makes in the browser gets what assistive technology needs: a name, and a way in for the keyboard.
"use strict";
const label = () => {
  document.querySelector(".md-search")?.setAttribute("aria-label", "search the guides");
  document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code").forEach((one) => { one.tabIndex = 0; });
  document.querySelector(".md-search__input")?.setAttribute("placeholder", "Search the guides");
  document.querySelectorAll(".md-code__nav").forEach((one, place) => one.setAttribute("aria-label", `code ${place + 1}`));
};
label();
new MutationObserver(label).observe(document.body, { childList: true, subtree: true });
