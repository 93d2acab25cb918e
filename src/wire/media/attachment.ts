// Measures the attachments of a prompt (images, audio, video, documents) in the parts of every client format.

import { ElementScan, kindAt, MemberScan, textOf, valueEnd } from '../json/scan.ts'
import { base64File } from './base64-bytes.ts'
import { durationOf } from './duration.ts'
import { isPdf, pagesOf } from './pages.ts'
import { type PictureSize, pictureSize } from './picture-size.ts'
import { type Bytes, sniffedType } from './sniff.ts'

type AttachmentKind = 'image' | 'audio' | 'video' | 'document' | 'text'

/** One attachment; a property that could not be read, or whose file is given by a URL, is null. */
export interface Attachment {
  readonly kind: AttachmentKind
  /** Bytes of the body that it occupies; 0 where it is given by a URL. */
  readonly spelledBytes: number
  /** Bytes of the decoded file; 0 where it is given by a URL. */
  readonly bytes: number
  /** Media type: detected from the bytes, else as the client declared it; may be empty. */
  readonly type: string
  readonly size: PictureSize | null
  readonly seconds: number | null
  readonly pages: number | null
  /** The resolution that the client asks for, in its own word. */
  readonly detail: string | null
  /** Frames per second at which a video is sampled, where the client says. */
  readonly framesPerSecond: number | null
}

/** How deep nested parts, and objects inside them, are searched. */
const maxDepth = 6
/** The longest word or media type that is read, in bytes; six times as many where each character is an escape. */
const wordBytes = 100
const escapedWordBytes = 6 * wordBytes
/** Bytes that are read of all attachments together: a PDF or audio takes about 70 KB, an image a few bytes. */
const mostReadBytes = 8 * 1_048_576
/** Cost of one read beside its bytes. */
const readBytes = 64

/** The attachments that begin at `offsets` of a request body. `detail`: for those without their own. */
export function attachmentsAt(
  body: Uint8Array,
  offsets: readonly number[],
  detail: string | null = null,
): Attachment[] {
  const work = { found: [], leftBytes: mostReadBytes }
  for (const at of offsets) new PartReader(body, work, 0).read(at)
  const found: readonly Attachment[] = work.found
  return found.map((each) => ({ ...each, detail: each.detail ?? detail }))
}

/** The attachments of one request, and how many more bytes may be read: other requests wait meanwhile. */
interface Work {
  readonly found: Attachment[]
  leftBytes: number
}

interface Source {
  readonly start: number
  readonly end: number
  /** Whether it is the file's bytes, and not a URL or an id. */
  readonly inline: boolean
}

const mediaTypeKeys = new Set(['media_type', 'mediaType', 'mimeType', 'mime_type', 'format'])
/** Where each kind of part states its resolution: vendors read it nowhere else. */
const detailPaths: ReadonlyMap<string, RegExp> = new Map([
  ['image_url', /^image_url\.detail$/],
  ['input_image', /^detail$/],
  ['computer_screenshot', /^detail$/],
  ['media', /^media(Resolution|_resolution)(\.level)?$/],
])
const inlineKeys = new Set(['data', 'file_data', 'result'])
const addressKeys = new Set(['url', 'image_url', 'file_url', 'file_id', 'fileUri', 'file_uri'])
const mediaKeys = new Set(['inlineData', 'inline_data', 'fileData', 'file_data'])
const nestingKeys = new Set(['content', 'parts', 'output'])
/** Arguments and results of functions are text to a model, whatever they look like. */
const opaqueKeys = new Set(['args', 'arguments', 'input', 'response'])

const kinds: ReadonlyMap<string, AttachmentKind> = new Map([
  ['image_url', 'image'],
  ['input_image', 'image'],
  ['image', 'image'],
  ['computer_screenshot', 'image'],
  ['image_generation_call', 'image'],
  ['input_audio', 'audio'],
  ['video_url', 'video'],
  ['file', 'document'],
  ['input_file', 'document'],
  ['document', 'document'],
])

/** Reads the members of one part, at whatever depth its format has them. */
class PartReader {
  private type = ''
  private mediaType = ''
  /** The part declares two different types: which of them a vendor reads is unknown. */
  private isAmbiguous = false
  /** Resolutions by their path; which one counts depends on the part's type. */
  private readonly details = new Map<string, string>()
  private framesPerSecond: number | null = null
  /** The part is plain text, whose words are in the body as they are. */
  private isPlain = false
  private readonly sources: Source[] = []
  private readonly body: Uint8Array
  private readonly work: Work
  private readonly depth: number

  constructor(body: Uint8Array, work: Work, depth: number) {
    this.body = body
    this.work = work
    this.depth = depth
  }

  /** Reads the part; gives the offset after it. */
  read(at: number): number {
    const end = this.members(at, 0, '')
    this.add()
    return end
  }

  private add(): void {
    const kind = this.kind()
    if (kind === null || this.isPlain) return
    const [source] = this.sources
    // With two sources the vendor may read either: then both also count as text.
    const known = this.sources.length === 1 && source?.inline === true && !this.isAmbiguous
    this.work.found.push((known ? this.measured(kind, source) : null) ?? this.unmeasured(kind))
  }

  /** Walks each byte once, because there may be megabytes; gives the offset after the object. */
  private members(at: number, level: number, parent: string): number {
    const { body } = this
    const scan = new MemberScan()
    scan.open(body, at)
    while (scan.next()) {
      const { value } = scan
      const key = textOf(body, scan.keyStart, Math.min(scan.keyEnd, scan.keyStart + wordBytes))
      const kind = kindAt(body, value)
      if (key === 'fps') this.frames(value, scan.skip())
      else if (kind === 'string') this.text(key, value + 1, scan.skip() - 1, level, parent)
      else if (kind === 'object' && this.isOpen(key, level))
        scan.resume(this.object(key, value, level))
      else if (kind === 'array' && nestingKeys.has(key)) scan.resume(this.list(value))
    }
    return scan.at
  }

  private isOpen(key: string, level: number): boolean {
    return this.depth + level < maxDepth && !opaqueKeys.has(key)
  }

  /** Reads frames per second; ProtoJSON allows a number as a string. */
  private frames(start: number, end: number): void {
    const said = Number(
      plain(textOf(this.body, start, Math.min(end, start + escapedWordBytes)).replaceAll('"', '')),
    )
    if (said > 0) this.framesPerSecond = Math.max(this.framesPerSecond ?? 0, said)
  }

  private text(key: string, start: number, end: number, level: number, parent: string): void {
    const word = wordAt(this.body, start, end)
    if (key === 'type' && level === 0) this.type = word
    else if (key === 'type' && /^(text|content)$/.test(word)) this.isPlain = true
    else if (mediaTypeKeys.has(key)) this.named(word.toLowerCase())
    else if (key === 'detail' || key === 'level' || /^media.?resolution$/i.test(key))
      this.details.set(level === 0 ? key : `${parent}.${key}`, word)
    else if (inlineKeys.has(key)) this.sources.push({ start, end, inline: true })
    else if (addressKeys.has(key))
      this.sources.push({ start, end, inline: /^data:/i.test(word.slice(0, 5)) })
  }

  private named(mediaType: string): void {
    this.isAmbiguous ||= this.mediaType !== '' && this.mediaType !== mediaType
    this.mediaType = mediaType
  }

  /** A tool's output holds parts of its own; any other object describes this one. */
  private object(key: string, at: number, level: number): number {
    if (mediaKeys.has(key)) this.type = 'media'
    return nestingKeys.has(key)
      ? this.inside(at)
      : this.members(at, level + 1, level === 0 ? key : '')
  }

  private list(at: number): number {
    const list = new ElementScan()
    list.open(this.body, at)
    while (list.next()) {
      if (kindAt(this.body, list.value) === 'object') list.resume(this.inside(list.value))
    }
    return list.at
  }

  private inside(at: number): number {
    if (this.depth >= maxDepth) return valueEnd(this.body, at)
    return new PartReader(this.body, this.work, this.depth + 1).read(at)
  }

  private kind(): AttachmentKind | null {
    if (this.type === 'media') return kindOfType(this.mediaType) ?? 'video'
    const kind = kinds.get(this.type) ?? null
    return kind === 'document' ? (kindOfType(this.mediaType) ?? kind) : kind
  }

  private detail(): string | null {
    const path = detailPaths.get(this.type)
    for (const [at, word] of this.details) if (path?.test(at)) return word
    return null
  }

  private unmeasured(said: AttachmentKind): Attachment {
    const { framesPerSecond, mediaType: type } = this
    const detail = this.detail()
    const kind = said === 'text' ? 'document' : said
    const nothing = { spelledBytes: 0, bytes: 0, size: null, seconds: null, pages: null }
    return { ...nothing, kind, type, detail, framesPerSecond }
  }

  private metered(file: Bytes): Bytes {
    return {
      size: file.size,
      read: (from, to) => {
        this.work.leftBytes -= readBytes + to - from
        return file.read(from, to)
      },
    }
  }

  /** Null where the head of a `data:` URL is unreadable, or where the read limit is used up. */
  private measured(said: AttachmentKind, { start, end }: Source): Attachment | null {
    const { body } = this
    if (this.work.leftBytes <= 0) return null
    const head = textOf(body, start, Math.min(end, start + 2 * wordBytes))
    const [prefix = ''] = /^data:[^,]*,/i.exec(head) ?? []
    if (prefix === '' && /^data:/i.test(head)) return null
    const [, type = this.mediaType] = /^data:([^;,]+)/i.exec(plain(prefix)) ?? []
    const file = this.metered(base64File(body, start + prefix.length, end))
    const sniffed = sniffedType(file)
    const kind = kindOfBytes(file, sniffed, said, type)
    const lasts = kind === 'audio' || kind === 'video'
    return {
      ...this.unmeasured(said),
      kind,
      spelledBytes: end - start,
      bytes: file.size,
      type: sniffed ?? type.toLowerCase(),
      size: kind === 'image' ? pictureSize(file, sniffed) : null,
      seconds: lasts && sniffed !== null ? durationOf(file, sniffed) : null,
      pages: kind === 'document' ? pagesOf(file) : null,
    }
  }
}

/** The beginning of the string, unescaped. */
function wordAt(body: Uint8Array, start: number, end: number): string {
  const word = textOf(body, start, Math.min(end, start + wordBytes))
  if (!word.includes('\\')) return word
  return plain(textOf(body, start, Math.min(end, start + escapedWordBytes)))
}

/** JSON text unescaped, as far as words need it. */
function plain(text: string): string {
  return text.replaceAll(/\\(?:u([0-9a-f]{4})|(.))/gi, (_, code, other) =>
    code === undefined ? String(other) : String.fromCharCode(Number.parseInt(code, 16)),
  )
}

function kindOfType(mediaType: string): AttachmentKind | null {
  const [, family] = /^(image|audio|video)\//i.exec(mediaType) ?? []
  if (family !== undefined) return family.toLowerCase() as 'image' | 'audio' | 'video'
  if (!mediaType.includes('/')) return null
  return /^application\/(x-)?pdf/i.test(mediaType) ? 'document' : 'text'
}

/** Types that do not say what the file is. */
const unspecific = /^application\/(octet-stream|binary)|^binary\//i

/**
 * Vendors treat text and PDFs as the client declares them, and find a PDF's signature after other bytes: leading
 * bytes of a small image must not make such a file cheaper. Among images, audio and video the bytes take precedence.
 */
function kindOfBytes(
  file: Bytes,
  sniffed: string | null,
  said: AttachmentKind,
  type: string,
): AttachmentKind {
  // A video container may hold only audio.
  if (said === 'audio') return 'audio'
  const named = unspecific.test(type) ? null : kindOfType(type)
  if (named === 'text') return 'text'
  if (named === 'document' || (said === 'document' && named === null))
    return isPdf(file) ? 'document' : (named ?? 'text')
  const shown = sniffed === null ? null : kindOfType(sniffed)
  if (shown === 'image' && (named === 'audio' || named === 'video')) return named
  if (shown !== null) return shown
  if (isPdf(file)) return 'document'
  return said
}
