// The browser's history as the console uses it: opening something beside a page is one step, whatever is done in it
// belongs to that step, and closing it takes the step back.

import { createBrowserHistory } from '@tanstack/react-router'

/** The parameters by which pages show something beside or above their list. */
const openings = ['open', 'dialog', 'make']
const parts = [...openings, 'tab']

interface Placed {
  /** The address of the entry before this one; it is kept when the page is loaded again. */
  readonly previous?: string
}

const previousOf = (state: object) => (state as Placed).previous

export function createConsoleHistory() {
  const history = createBrowserHistory()
  const { push, replace } = history
  history.push = (path, state, options) => {
    const { href, state: own } = history.location
    // What was deleted stays a step: going back shows it, where it can be restored.
    if (options?.ignoreBlocker === true || !isSameStep(href, path))
      return push(path, { ...state, previous: href }, options)
    const previous = previousOf(own)
    replace(path, { ...state, previous }, options)
  }
  history.replace = (path, state, options) =>
    replace(path, { ...state, previous: previousOf(history.location.state) }, options)
  history.subscribe(({ action, location: { href, state } }) => {
    const previous = previousOf(state)
    const isTwice = previous !== undefined && canonical(previous) === canonical(href)
    if (action.type === 'REPLACE' && isTwice) history.back({ ignoreBlocker: true })
  })
  return history
}

/** Whether something is open, and only that changes. */
function isSameStep(from: string, to: string): boolean {
  const isOpen = openings.some((name) => searchIn(from).has(name))
  return isOpen && canonical(from, parts) === canonical(to, parts)
}

function searchIn(href: string): URLSearchParams {
  return new URL(href, location.origin).searchParams
}

/** An address without some parameters, the others in order. */
function canonical(href: string, without: readonly string[] = []): string {
  const { pathname, searchParams } = new URL(href, location.origin)
  for (const name of without) searchParams.delete(name)
  searchParams.sort()
  return `${pathname}?${searchParams}`
}
