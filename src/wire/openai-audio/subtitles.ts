// Writes subtitles as SubRip and WebVTT (W3C) from timed texts.

/** Times in seconds. */
export interface Cue {
  readonly start: number
  readonly end: number
  readonly text: string
}

const msPerHour = 3_600_000

/** For each cue with a text: `1`, `00:00:01,000 --> 00:00:02,500`, the text, and a blank line. */
export function subRip(cues: readonly Cue[]): string {
  return spoken(cues)
    .map(({ start, end, text }, at) => {
      // The format has no escapes: an arrow in a text would be read as a line of times.
      const plain = text.replace(/(?<!-)-{2,}>/g, '->')
      return `${at + 1}\n${clock(start, ',')} --> ${clock(end, ',')}\n${plain}\n\n`
    })
    .join('')
}

/** The header `WEBVTT`, then cues without numbers and with their text escaped. */
export function webVtt(cues: readonly Cue[]): string {
  const parts = spoken(cues).map(({ start, end, text }) => {
    const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
    return `${clock(start, '.')} --> ${clock(end, '.')}\n${escaped}\n\n`
  })
  return `WEBVTT\n\n${parts.join('')}`
}

/** Cues with a text, in whole milliseconds; blank lines in a text are removed, because they would end its cue. */
function spoken(cues: readonly Cue[]): Cue[] {
  return cues.flatMap(({ start, end, text }) => {
    const lines = text
      .replaceAll('\0', '')
      .split(/\r\n|[\n\r\u2028\u2029\u0085\v\f]/)
      .map((line) => line.trim())
    const said = lines.filter((line) => line !== '').join('\n')
    if (said === '') return []
    const from = milliseconds(start)
    return [{ start: from, end: Math.max(from, milliseconds(end)), text: said }]
  })
}

function milliseconds(seconds: number): number {
  return Number.isFinite(seconds) && seconds > 0 ? Math.round(seconds * 1000) : 0
}

function clock(ms: number, point: ',' | '.'): string {
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0')
  const rest = String(ms % 1_000).padStart(3, '0')
  return `${two(ms / msPerHour)}:${two((ms / 60_000) % 60)}:${two((ms / 1_000) % 60)}${point}${rest}`
}
