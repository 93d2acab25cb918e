// Reads a file that an operator named: ends soon whatever it is, with its text or the reason why it cannot be read.

import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'

/** `refused` continues a sentence that begins with the file's name: `does not exist`. */
type TextFile = { readonly text: string } | { readonly refused: string }

/** Largest size of a configuration in bytes: some hundred thousand models, which are read in seconds. */
export const longestConfiguration = 16 * 1024 * 1024

/** Opening a pipe without a writer would otherwise block for ever. */
const flags = constants.O_RDONLY | constants.O_NONBLOCK
/** How long the writer of a pipe, such as a program that decrypts, may take. */
const pipeMs = 10_000
const retryMs = 10

/** For a serving process, which must not block on a slow disk. Never throws. */
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

/** Reads a shell's `<(...)` or `/dev/stdin`. */
async function readPipe(handle: FileHandle, longestBytes: number): Promise<TextFile> {
  const untilMs = performance.now() + pipeMs
  const pieces: Uint8Array[] = []
  let length = 0
  while (length <= longestBytes) {
    const piece = await pieceOf(handle)
    if (piece === null) {
      if (performance.now() > untilMs) return { refused: 'is a pipe that was not closed in time' }
      await delay(retryMs)
      continue
    }
    // A writer that failed has written nothing, which must not count as an empty configuration.
    if (piece.length === 0 && length === 0) return { refused: 'is a pipe that sent nothing' }
    if (piece.length === 0) return textOf(Buffer.concat(pieces))
    pieces.push(piece)
    length += piece.length
  }
  return { refused: `is longer than ${longestBytes} bytes` }
}

/** null: nothing has arrived yet. Empty: no writer is left. */
async function pieceOf(handle: FileHandle): Promise<Uint8Array | null> {
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(65_536))
    return buffer.subarray(0, bytesRead)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return null
    throw error
  }
}

/** Reads synchronously; plain files only. */
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
    return { refused: 'is not UTF-8 text' }
  }
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  if (code === 'ENOENT') return 'does not exist'
  return code === 'EACCES' ? 'cannot be read: permission denied' : `cannot be read (${code})`
}
