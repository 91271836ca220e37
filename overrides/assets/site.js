// What Material's own script leaves undone. It adds its elements as the reader scrolls, hence the observer.

// What can scroll sideways (a wide table, a plot on a phone) can be reached with the Tab key; the rest is passed over.
// A table keeps its first column in sight, unless that takes nearly half of the room.
const boxes = new ResizeObserver(entries => {
  for (const { target } of entries) {
    const scrolls = target.scrollWidth > target.clientWidth
    if (scrolls) target.tabIndex = 0
    else target.removeAttribute("tabindex")
    const first = target.querySelector("tr > *")
    target.classList.toggle("holds-first", scrolls && first?.offsetWidth < 0.45 * target.clientWidth)
  }
})

// What a reader types in an interactive session: without the prompts and without what Python answers.
function typed(session) {
  return session.split("\n").filter(line => /^(>>>|\.\.\.)( |$)/.test(line)).map(line => line.slice(4)).join("\n")
}

function mend() {
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap, figure.plot")) boxes.observe(box)
  for (const button of document.querySelectorAll("[data-clipboard-target]:not([data-clipboard-text])")) {
    const code = document.querySelector(button.dataset.clipboardTarget)
    if (code?.textContent.startsWith(">>>")) button.dataset.clipboardText = typed(code.textContent)
  }
  // The copy button of each code block comes in a navigation landmark of its own.
  for (const nav of document.querySelectorAll("nav.md-code__nav:not([role])")) nav.setAttribute("role", "none")
}

mend()
new MutationObserver(mend).observe(document.body, { childList: true, subtree: true })
