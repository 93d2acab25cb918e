// Files as parts of a message: pictures, sound, PDFs, and texts.

import type { Attachment } from './chat.ts'

/** The limit for one message: with base64 it stays well below what the gateway accepts. */
export const mostBytes = 20 * 1024 * 1024

export type AttachmentProblem =
  | { readonly kind: 'too-large'; readonly name: string }
  | { readonly kind: 'unknown'; readonly name: string }

const texts =
  /\.(txt|md|csv|tsv|json|jsonl|xml|ya?ml|toml|html?|css|[cm]?[jt]sx?|py|go|rs|java|kt|swift|c|h|cpp|hpp|cs|rb|php|sh|sql|log)$/i

/** Resolves with the files that could be read, and the error of the first that could not. */
export async function readFiles(
  files: readonly File[],
  before: number,
): Promise<{ readonly read: readonly Attachment[]; readonly problem: AttachmentProblem | null }> {
  const read: Attachment[] = []
  let bytes = before
  for (const file of files) {
    bytes += file.size
    const { name } = file
    if (bytes > mostBytes) return { read, problem: { kind: 'too-large', name } }
    const attachment = await attachmentOf(file)
    if (attachment === null) return { read, problem: { kind: 'unknown', name } }
    read.push(attachment)
  }
  return { read, problem: null }
}

async function attachmentOf(file: File): Promise<Attachment | null> {
  const { name, type } = file
  if (/^image\/(png|jpeg|gif|webp)$/.test(type)) {
    const url = await dataUrl(file)
    return { name, preview: url, part: { type: 'image_url', image_url: { url } } }
  }
  const sound = /^audio\/(?:x-|vnd\.)?(wav|wave|mp3|mpeg)$/.exec(type)?.[1]
  if (sound !== undefined) {
    const data = (await dataUrl(file)).split(',')[1]
    const format = sound.startsWith('wav') ? 'wav' : 'mp3'
    return { name, preview: null, part: { type: 'input_audio', input_audio: { data, format } } }
  }
  if (type === 'application/pdf') {
    const file_data = await dataUrl(file)
    return { name, preview: null, part: { type: 'file', file: { filename: name, file_data } } }
  }
  if (!type.startsWith('text/') && type !== 'application/json' && !texts.test(name)) return null
  return { name, preview: null, part: { type: 'text', text: `${name}:\n\n${await file.text()}` } }
}

function dataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error ?? new Error('The file cannot be read.'))
    reader.readAsDataURL(file)
  })
}

/** The approximate size of the attachments: base64 is a third longer. */
export function sizeOf(attachments: readonly Attachment[]): number {
  return attachments.reduce((sum, { part }) => sum + JSON.stringify(part).length * 0.75, 0)
}
