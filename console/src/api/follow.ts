// Follows events as they happen (text/event-stream), as long as a page needs them.

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
 * Returns a function that stops it. The browser reconnects by itself if a connection breaks; if it gave up, at a
 * refusal or a proxy's page, this does. A tab in the background holds no connection: browsers have six for all tabs of
 * an address, and an account may follow eight times.
 */
export function follow(path: string, { on, onOpen, onBreak }: Follower): () => void {
  let source: EventSource | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  function open() {
    const opened = new EventSource(apiAddress(path))
    source = opened
    opened.onopen = () => onOpen?.()
    opened.onerror = () => {
      onBreak?.()
      if (opened.readyState !== EventSource.CLOSED) return
      // The browser does not reveal the status of the refusal.
      lookWhoIsSignedIn()
      timer = setTimeout(open, againMs)
    }
    for (const [name, listener] of Object.entries(on))
      opened.addEventListener(name, ({ data }) => listener(data))
  }
  function close() {
    clearTimeout(timer)
    source?.close()
    source = undefined
  }
  function look() {
    const isHidden = document.visibilityState === 'hidden'
    if (!isHidden && source === undefined) open()
    if (!isHidden || source === undefined) return
    close()
    onBreak?.()
  }
  look()
  document.addEventListener('visibilitychange', look)
  return () => {
    document.removeEventListener('visibilitychange', look)
    close()
  }
}
