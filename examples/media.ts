// Makes an image, speech and a transcript through a gateway with the official openai SDK.
//   npm ci && TOLLGATE_KEY=sk-tg-... node_modules/.bin/bun examples/media.ts [FOLDER]

import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI, { toFile } from 'openai'

const env = process.env
const folder = process.argv[2] ?? tmpdir()
const client = new OpenAI({
  baseURL: env['TOLLGATE_URL'] ?? 'http://127.0.0.1:8787/v1',
  apiKey: env['TOLLGATE_KEY'] ?? '',
})

function keep(name: string, bytes: Buffer): string {
  const file = join(folder, name)
  writeFileSync(file, bytes)
  return `${file} (${bytes.length} bytes)`
}

const drawn = await client.images.generate({
  model: env['IMAGE_MODEL'] ?? 'sandbox/image',
  prompt: 'A red cat on a mat',
  size: '1024x1024',
  response_format: 'b64_json',
})
console.log('image:', keep('tollgate.png', Buffer.from(drawn.data?.[0]?.b64_json ?? '', 'base64')))

const said = await client.audio.speech.create({
  model: env['SPEECH_MODEL'] ?? 'sandbox/speech',
  voice: 'alloy',
  input: 'Hello there, this is what a gateway sounds like.',
  response_format: 'wav',
})
const sound = Buffer.from(await said.arrayBuffer())
console.log('speech:', keep('tollgate.wav', sound))

const subtitles = await client.audio.transcriptions.create({
  model: env['TRANSCRIPTION_MODEL'] ?? 'sandbox/transcription',
  file: await toFile(sound, 'tollgate.wav', { type: 'audio/wav' }),
  response_format: 'srt',
})
console.log(`transcript:\n${subtitles}`)
