// Reads a file that an operator named: whatever is there, it ends soon, with a text or with why there is none.

import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'

/** `refused` goes on after the name of the file: `does not exist`. */
type TextFile = { readonly text: string } | { readonly refused: string }

/** Of a configuration: some hundred thousand models, and what is read in seconds. */
export const longestConfiguration = 16 * 1024 * 1024

/** A pipe that nobody writes to would be waited for without end. */
const flags = constants.O_RDONLY | constants.O_NONBLOCK
/** Whoever writes to a pipe, such as a program that decrypts, has so long. */
const pipeMs = 10_000
const retryMs = 10

/** For a serving process, which must not wait for a slow disk. Never throws. */
export async function readTextFile(file: string, longestBytes: number): Promise<TextFile> {
  try {
    const handle = await open(file, flags)
    try {
      const stats = await handle.stat()
      if (stats.isFIFO()) return await readPipe(handle, longestBytes)
      const refused = refusal(stats, longestBytes)
      return refused === null ? textOf(await handle.readFile()) : { refused }
    } finally {
      await handle.close()
    }
  } catch (error) {
    return { refused: reasonOf(error) }
  }
}

/** What a shell's `<(...)` or `/dev/stdin` stands for. */
async function readPipe(handle: FileHandle, longestBytes: number): Promise<TextFile> {
  const untilMs = performance.now() + pipeMs
  const pieces: Uint8Array[] = []
  let length = 0
  while (length <= longestBytes) {
    const piece = await pieceOf(handle)
    if (piece === null) {
      if (performance.now() > untilMs)
        return { refused: 'is a pipe whose end did not come in time' }
      await delay(retryMs)
      continue
    }
    // A program that failed has written nothing: that is no empty configuration.
    if (piece.length === 0 && length === 0) return { refused: 'is a pipe with nothing in it' }
    if (piece.length === 0) return textOf(Buffer.concat(pieces))
    pieces.push(piece)
    length += piece.length
  }
  return { refused: `is longer than ${longestBytes} bytes` }
}

/** null: nothing has come yet. Empty: nobody writes any more. */
async function pieceOf(handle: FileHandle): Promise<Uint8Array | null> {
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(65_536))
    return buffer.subarray(0, bytesRead)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return null
    throw error
  }
}

/** The same at once, of plain files alone. */
export function readTextFileSync(file: string, longestBytes: number): TextFile {
  try {
    const descriptor = openSync(file, flags)
    try {
      const refused = refusal(fstatSync(descriptor), longestBytes)
      return refused === null ? textOf(readFileSync(descriptor)) : { refused }
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    return { refused: reasonOf(error) }
  }
}

function refusal(stats: Stats, longestBytes: number): string | null {
  if (stats.isDirectory()) return 'is a folder, not a file'
  if (!stats.isFile()) return 'is a pipe, a device or a socket, not a plain file'
  return stats.size > longestBytes ? `is longer than ${longestBytes} bytes` : null
}

function textOf(bytes: Uint8Array): TextFile {
  const [first = 0, second = 0] = bytes
  if (first + second === 0xfe + 0xff && (first === 0xfe || second === 0xfe))
    return { refused: 'is in UTF-16; expected UTF-8' }
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) }
  } catch {
    return { refused: 'is no text in UTF-8' }
  }
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  if (code === 'ENOENT') return 'does not exist'
  return code === 'EACCES' ? 'may not be read' : `cannot be read (${code})`
}
