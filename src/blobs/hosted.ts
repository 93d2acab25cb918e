// Names, media types and expiry of hosted results.

import { randomBytes } from 'node:crypto'

/** The types that are kept, by file extension; any other is served as `application/octet-stream`. */
const typeByEnding: ReadonlyMap<string, string> = new Map(
  Object.entries({
    png: 'image/png',
    jpg: 'image/jpeg',
    webp: 'image/webp',
    gif: 'image/gif',
    avif: 'image/avif',
    heic: 'image/heic',
    svg: 'image/svg+xml',
    mp3: 'audio/mpeg',
    wav: 'audio/wav',
    flac: 'audio/flac',
    ogg: 'audio/ogg',
    aac: 'audio/aac',
    m4a: 'audio/mp4',
    mp4: 'video/mp4',
    webm: 'video/webm',
    mkv: 'video/x-matroska',
    mov: 'video/quicktime',
    bin: 'application/octet-stream',
  }),
)

const endingByType = new Map([...typeByEnding].map(([ending, type]) => [type, ending]))

/** 192 random bits and an extension; also the name of the file. */
const form = /^[\w-]{32}\.[a-z0-9]{3,4}$/

export interface HostedFile {
  /** `RANDOM.png` */
  readonly id: string
  /** Unix seconds; afterwards the file is not served. */
  readonly expires: number
}

export function newFile(type: string, expires: number): HostedFile {
  const ending = endingByType.get(type) ?? 'bin'
  return { id: `${randomBytes(24).toString('base64url')}.${ending}`, expires }
}

export function isFileId(id: string): boolean {
  return form.test(id)
}

export function typeOfFile({ id }: HostedFile): string {
  const ending = id.slice(id.indexOf('.') + 1)
  return typeByEnding.get(ending) ?? 'application/octet-stream'
}

/** Files that expire in the same hour are stored together, so that they are removed together. */
export function hourOf({ expires }: HostedFile): number {
  return Math.floor(expires / 3_600)
}

/** Whether every file of the hour has expired. */
export function isHourOver(hour: number, nowMs: number): boolean {
  return (hour + 1) * 3_600_000 <= nowMs
}
