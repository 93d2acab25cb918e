// The width of an element, measured by the browser when it changes and never in between.

import { type RefObject, useEffect, useRef, useState } from 'react'

/** 0 until it was measured. */
export function useWidth<Element extends HTMLElement>(): readonly [
  RefObject<Element | null>,
  number,
] {
  const element = useRef<Element>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    if (element.current === null) return
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setWidth(Math.floor(entry.contentRect.width))
    })
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [])
  return [element, width]
}
