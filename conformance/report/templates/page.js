"use strict";
// Everything is visible without this script. It adds a search, a filter, an order, and open evidence in print.
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const items = all("[data-item]").map((element) => ({ element, text: element.textContent.toLowerCase() }));
  const groups = all("[data-group]"); // what items are ordered in
  const causes = all("[data-cause]"); // what items of one group belong to, in the order of the report
  const hasShown = (element) => element.querySelector("[data-item]:not([hidden])");
  const controls = document.querySelector("[data-controls]");

  if (controls) {
    const search = controls.querySelector("[type=search]");
    const only = controls.querySelector("[type=checkbox]");
    const order = controls.querySelector("select:not([data-by])");
    const choices = all("select[data-by]", controls); // each item names in data-KEY what it is shown for
    const asked = new URLSearchParams(location.search).get("q");
    if (asked !== null) search.value = asked;
    const asks = "asks" in controls.dataset; // nothing is shown before there is a word or a choice
    const count = controls.querySelector("output");
    const filter = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const waits = asks && !words.length && choices.every(({ value }) => !value);
      let shown = 0;
      for (const { element, text } of items) {
        const chosen = choices.every(({ value, dataset }) => !value || (element.dataset[dataset.by] ?? "").split(" ").includes(value));
        element.hidden = waits || (only?.checked && !element.dataset.item) || !chosen || !words.every((word) => text.includes(word));
        shown += !element.hidden;
      }
      for (const group of [...causes, ...groups]) group.hidden = !hasShown(group);
      count.textContent = waits || shown === items.length ? "" : `${shown} of ${items.length} shown`;
    };
    search.addEventListener("input", filter);
    only?.addEventListener("change", filter);
    choices.forEach((choice) => choice.addEventListener("change", filter));
    order?.addEventListener("change", () => {
      for (const group of groups) {
        const within = all("[data-item]", group);
        within.forEach((element, place) => { element.dataset.place ??= place; element.home ??= element.parentElement; });
        const key = order.value;
        const rank = (one, other) => key === "clause"
          ? one.dataset.clause.localeCompare(other.dataset.clause)
          : key === "cases" ? other.dataset.cases - one.dataset.cases : key === "level" ? one.dataset.level - other.dataset.level : 0;
        within.sort((one, other) => rank(one, other) || one.dataset.place - other.dataset.place);
        within.forEach((element) => (key ? group : element.home).append(element));
      }
      filter();
    });
    controls.hidden = false;
    filter(); // a browser may keep what was typed when a page is loaded again
  }

  for (const table of all("table[data-sort]")) {
    const heads = all("thead th", table);
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const value = (row) => row.cells[column].textContent.trim();
        const compare = new Intl.Collator(undefined, { numeric: true }).compare;
        for (const body of table.tBodies) {
          const rows = [...body.rows].filter((row) => !("head" in row.dataset));
          rows.sort((one, other) => compare(value(one), value(other)) * (down ? -1 : 1));
          rows.forEach((row) => body.append(row));
        }
      });
    });
  }

  const reveal = () => {
    let place = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (const start = place; place; place = place.parentElement) {
      if (place.tagName === "DETAILS") place.open = true;
      if (place === document.body) start.scrollIntoView();
    }
  };
  addEventListener("hashchange", reveal);
  reveal();

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = all("details:not([open])");
    closed.forEach((element) => { element.open = true; });
  });
  addEventListener("afterprint", () => closed.forEach((element) => { element.open = false; }));
})();
