// Two things that Material's own script leaves undone for keyboards and screen readers. It adds its elements as the
// reader scrolls, hence the observer.

// What can scroll sideways (a wide table, a plot on a phone) can be reached with the Tab key; the rest is passed over.
const boxes = new ResizeObserver(entries => {
  for (const { target } of entries)
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0
    else target.removeAttribute("tabindex")
})

function mend() {
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap, figure.plot")) boxes.observe(box)
  // The copy button of each code block comes in a navigation landmark of its own.
  for (const nav of document.querySelectorAll("nav.md-code__nav:not([role])")) nav.setAttribute("role", "none")
}

mend()
new MutationObserver(mend).observe(document.body, { childList: true, subtree: true })
