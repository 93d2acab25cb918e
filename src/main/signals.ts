// What the signals of a server mean: one stop for one press of Ctrl-C, and an end where its terminal is closed.

import { isatty } from 'node:tty'

/**
 * A terminal sends Ctrl-C to its whole process group, and npm passes its own on besides: signals this close to the first
 * are the same request to stop.
 */
const samePressMs = 1_000

/** Calls `press` for the first signal, and for a later one only when a second has gone by since the last that counted. */
export function oncePerPress(press: () => void, nowMs = () => performance.now()): () => void {
  let countedMs = Number.NEGATIVE_INFINITY
  return () => {
    const signalledMs = nowMs()
    if (signalledMs - countedMs < samePressMs) return
    countedMs = signalledMs
    press()
  }
}

/** SIGTERM and Ctrl-C stop; SIGHUP reloads a daemon, and stops a server whose terminal is closed. */
export function onSignals({ stop, reload }: { stop(): void; reload(): void }): void {
  const pressed = oncePerPress(stop)
  process.on('SIGTERM', pressed)
  process.on('SIGINT', pressed)
  process.on('SIGHUP', isInForeground() ? pressed : reload)
}

/** Whoever started it watches a terminal; under nohup, a supervisor or a container none of the three is one. */
export function isInForeground(): boolean {
  return [0, 1, 2].some((descriptor) => isatty(descriptor))
}
