// Keeps the focus of those who work with the keyboard when they remove a row from a list of a form.

import { useRef } from 'react'

/**
 * `ref` is for the button that adds a row. `afterRemoving(act)` removes one by `act`: the focus stood on its own button,
 * which goes with it, and moves to the one that adds.
 */
export function useAdding() {
  const ref = useRef<HTMLButtonElement>(null)
  return {
    ref,
    afterRemoving(act: () => void) {
      ref.current?.focus()
      act()
    },
  }
}
