// Media types of images, audio and files.

const typeOfEnding: ReadonlyMap<string, string> = new Map(
  Object.entries({
    png: 'image/png',
    jpg: 'image/jpeg',
    jpeg: 'image/jpeg',
    webp: 'image/webp',
    gif: 'image/gif',
    heic: 'image/heic',
    heif: 'image/heif',
    bmp: 'image/bmp',
    pdf: 'application/pdf',
    txt: 'text/plain',
    md: 'text/markdown',
    csv: 'text/csv',
    html: 'text/html',
    json: 'application/json',
    mp3: 'audio/mp3',
    wav: 'audio/wav',
    flac: 'audio/flac',
    ogg: 'audio/ogg',
    aac: 'audio/aac',
    mp4: 'video/mp4',
    mov: 'video/mov',
    webm: 'video/webm',
    mpeg: 'video/mpeg',
  }),
)

/** The media type by the extension of the URL (or of `name`); `otherwise` if neither has a known one. */
export function mediaTypeOf(url: string, name: string | undefined, otherwise: string): string {
  for (const text of [url.split(/[?#]/, 1)[0] ?? '', name ?? '']) {
    const ending = /\.([a-z0-9]+)$/i.exec(text)?.[1]?.toLowerCase() ?? ''
    const type = typeOfEnding.get(ending)
    if (type !== undefined) return type
  }
  return otherwise
}

const formats: ReadonlyMap<string, string> = new Map([
  ['audio/mpeg', 'mp3'],
  ['audio/mp3', 'mp3'],
  ['audio/wav', 'wav'],
  ['audio/x-wav', 'wav'],
  ['audio/wave', 'wav'],
  ['audio/vnd.wave', 'wav'],
])

/** `mp3` for `audio/mpeg`; usually the subtype. */
export function audioFormatOf(mediaType: string): string {
  const plainType = mediaType.split(';', 1)[0] ?? ''
  return formats.get(plainType) ?? plainType.slice(plainType.indexOf('/') + 1).replace(/^x-/, '')
}

export function audioTypeOf(format: string): string {
  return format === 'mpeg' ? 'audio/mp3' : `audio/${format.toLowerCase()}`
}
