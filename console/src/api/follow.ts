// Events as they happen (text/event-stream), for as long as a page wants them.

import { lookWhoIsSignedIn } from './queries.ts'
import { apiAddress } from './viewing.ts'

const againMs = 4_000

interface Follower {
  /** By the name of the event: its data, still as JSON. */
  readonly on: Readonly<Record<string, (data: string) => void>>
  readonly onOpen?: () => void
  readonly onBreak?: () => void
}

/**
 * Gives what ends it. The browser connects again by itself where a connection breaks; where it gave up, at a refusal or
 * a proxy's page, this does.
 */
export function follow(path: string, { on, onOpen, onBreak }: Follower): () => void {
  let source: EventSource
  let timer: ReturnType<typeof setTimeout> | undefined
  function open() {
    source = new EventSource(apiAddress(path))
    source.onopen = () => onOpen?.()
    source.onerror = () => {
      onBreak?.()
      if (source.readyState !== EventSource.CLOSED) return
      // The browser keeps the status of the refusal to itself.
      lookWhoIsSignedIn()
      timer = setTimeout(open, againMs)
    }
    for (const [name, listener] of Object.entries(on))
      source.addEventListener(name, ({ data }) => listener(data))
  }
  open()
  return () => {
    clearTimeout(timer)
    source.close()
  }
}
