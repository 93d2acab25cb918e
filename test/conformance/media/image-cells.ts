// The tests of images: each result is decoded, and must be the one that its vendor made.

import { Buffer } from 'node:buffer'
import type OpenAI from 'openai'
import { toFile } from 'openai'
import { pngSize } from '../../support/pictures.ts'
import { given, mask, pictureOf } from './made.ts'
import type { Row } from './rows.ts'
import { alike, check, type Feature } from './tried.ts'

const prompt = 'a cat on a mat'
const b64 = { response_format: 'b64_json' } as const
type Size = Exclude<OpenAI.ImageGenerateParams['size'], undefined>

const file = (bytes: Uint8Array, name: string) => toFile(bytes, name, { type: 'image/png' })
const sizeOf = ({ size }: Row) => ({ size: size as NonNullable<Size> })

/** A complete picture with the dimensions it declares; of a scripted vendor, the one it made. */
function isPicture(bytes: Uint8Array, row: Row, size = row.comes): void {
  const seen = pngSize(bytes)
  if (size !== 'any') alike(seen, size, 'size')
  const [width = 0, height = 0] = seen.split('x').map(Number)
  if (row.service !== null)
    check(pictureOf(width, height).equals(bytes), 'not the picture that was made')
}

async function bytesOf(image: OpenAI.Image | undefined): Promise<Buffer> {
  const { b64_json, url } = image ?? {}
  if (b64_json !== undefined) return Buffer.from(b64_json, 'base64')
  const reply = await fetch(url ?? '')
  alike([reply.status, reply.headers.get('content-type')], [200, 'image/png'], 'the address')
  return Buffer.from(await reply.arrayBuffer())
}

async function arePictures(
  { data = [] }: OpenAI.ImagesResponse,
  count: number,
  row: Row,
  size = row.comes,
) {
  alike(data.length, count, 'images')
  for (const image of data) isPicture(await bytesOf(image), row, size)
}

function generation(name: string, more: Partial<OpenAI.ImageGenerateParamsNonStreaming>): Feature {
  return {
    name,
    dialect: 'openai-images',
    async ask(client, row) {
      const asked = { model: row.model, prompt, ...sizeOf(row), ...more }
      const reply = await client.images.generate(asked)
      const [first] = reply.data ?? []
      const member = more.response_format ?? 'b64_json'
      check(first?.[member] !== undefined, `no ${member}`)
      await arePictures(reply, more.n ?? 1, row)
      return undefined
    },
  }
}

function edit(name: string, masked: boolean): Feature {
  return {
    name,
    dialect: 'openai-image-edits',
    async ask(client, { model, ...row }) {
      const image = await file(given, 'cat.png')
      const more = masked ? { mask: await file(mask, 'mask.png') } : {}
      const reply = await client.images.edit({ model, prompt, image, ...b64, ...more })
      await arePictures(reply, 1, { model, ...row }, 'any')
      return undefined
    },
  }
}

export const imageFeatures: readonly Feature[] = [
  generation('b64_json', b64),
  generation('url', { response_format: 'url' }),
  generation('two at once', { ...b64, n: 2 }),
  edit('edits', false),
  edit('edits by mask', true),
  {
    name: 'variations',
    dialect: 'openai-image-variations',
    async ask(client, row) {
      const { model } = row
      const image = await file(given, 'cat.png')
      const reply = await client.images.createVariation({ model, image, ...b64 })
      await arePictures(reply, 1, row, 'any')
      return undefined
    },
  },
  {
    name: 'streamed',
    dialect: 'openai-images',
    async ask(client, row) {
      const asked = { model: row.model, prompt, ...sizeOf(row), stream: true } as const
      const stream = await client.images.generate({ ...asked, partial_images: 1 })
      const types: string[] = []
      for await (const event of stream) {
        types.push(event.type)
        isPicture(Buffer.from(event.b64_json, 'base64'), row)
      }
      alike(types.at(-1), 'image_generation.completed', 'last event')
      return undefined
    },
  },
  {
    name: 'usage',
    dialect: 'openai-images',
    async ask(client, row) {
      const { usage } = await client.images.generate({ model: row.model, prompt, ...sizeOf(row) })
      if (usage == null) return 'not offered'
      const { input_tokens, output_tokens, total_tokens } = usage
      check(input_tokens > 0 && output_tokens > 0, 'no tokens')
      alike(total_tokens, input_tokens + output_tokens, 'total')
      return undefined
    },
  },
]
