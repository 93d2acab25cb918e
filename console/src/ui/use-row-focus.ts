// After a row's detail is closed, the keyboard goes on from the row that was open last, which J and K may have changed.

import { type RefObject, useEffect, useRef } from 'react'

/** Where the focus is elsewhere, such as on a link that opened the row, it stays there. */
export function useRowFocus(table: RefObject<HTMLElement | null>, openId: string | undefined) {
  const last = useRef(openId)
  useEffect(() => {
    const id = last.current
    last.current = openId
    const focused = document.activeElement
    const isOurs = focused === document.body || table.current?.contains(focused) === true
    if (id === undefined || openId !== undefined || !isOurs) return
    table.current?.querySelector<HTMLElement>(`tr[data-id="${CSS.escape(id)}"]`)?.focus()
  }, [table, openId])
}
