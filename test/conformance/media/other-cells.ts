// The tests of videos and moderations: films are decoded, and jobs followed to their end.

import type OpenAI from 'openai'
import { toFile } from 'openai'
import { seeMp4 } from '../../../src/vendors/sandbox/media/testing.ts'
import { eventually } from '../../support/clients.ts'
import { pngSize } from '../../support/pictures.ts'
import { given } from './made.ts'
import type { Row } from './rows.ts'
import { alike, check, type Feature } from './tried.ts'

type Asked = Partial<OpenAI.Videos.VideoCreateParams>
const endMs = 30_000

async function begun(client: OpenAI, { model, size, seconds }: Row, more: Asked = {}) {
  const wanted = { seconds, size } as Pick<OpenAI.Videos.VideoCreateParams, 'seconds' | 'size'>
  return client.videos.create({ model, prompt: 'a cat', ...wanted, ...more })
}

function ended(client: OpenAI, id: string): Promise<OpenAI.Videos.Video> {
  return eventually(async () => {
    const video = await client.videos.retrieve(id)
    return video.status === 'completed' || video.status === 'failed' ? video : undefined
  }, endMs)
}

async function made(client: OpenAI, row: Row, more: Asked = {}): Promise<OpenAI.Videos.Video> {
  const video = await ended(client, (await begun(client, row, more)).id)
  alike([video.status, video.progress, video.error], ['completed', 100, null], 'the end')
  return video
}

async function isFilm(client: OpenAI, { id }: OpenAI.Videos.Video, row: Row): Promise<void> {
  const reply = await client.videos.downloadContent(id)
  alike(reply.headers.get('content-type'), 'video/mp4', 'type')
  const { width, height, seconds } = seeMp4(new Uint8Array(await reply.arrayBuffer()))
  alike([`${width}x${height}`, seconds], [row.size, Number(row.seconds)], 'the film')
}

function video(
  name: string,
  ask: (client: OpenAI, row: Row, mark: () => void) => Promise<void>,
): Feature {
  return {
    name,
    dialect: 'openai-videos',
    async ask(client, row, mark) {
      await ask(client, row, mark)
      return undefined
    },
  }
}

export const videoFeatures: readonly Feature[] = [
  video('to completion', async (client, row) => {
    const video = await made(client, row)
    alike([video.size, video.seconds, video.model], [row.size, row.seconds, row.model], 'the video')
  }),
  video('content', async (client, row) => isFilm(client, await made(client, row), row)),
  video('thumbnail', async (client, row, mark) => {
    const { id } = await made(client, row)
    mark()
    const reply = await client.videos.downloadContent(id, { variant: 'thumbnail' })
    pngSize(new Uint8Array(await reply.arrayBuffer()))
  }),
  video('from an image', async (client, row) => {
    const image = await toFile(given, 'cat.png', { type: 'image/png' })
    await isFilm(client, await made(client, row, { input_reference: image }), row)
  }),
  video('remix', async (client, row, mark) => {
    const source = await made(client, row)
    mark()
    const remixed = await client.videos.remix(source.id, { prompt: 'at night' })
    const video = await ended(client, remixed.id)
    alike([video.status, video.remixed_from_video_id], ['completed', source.id], 'the remix')
    await isFilm(client, video, row)
  }),
  video('failure', async (client, row) => {
    const fault = row.service === null ? '+fault=error-event' : ''
    const failing = { ...row, model: row.model + fault }
    const { id } = await begun(client, failing, { prompt: 'this will fail' })
    const { status, error } = await ended(client, id)
    alike(status, 'failed', 'the end')
    check((error?.code ?? '') !== '' && (error?.message ?? '') !== '', 'no reason')
  }),
  video('list, delete', async (client, row) => {
    const { id } = await made(client, row)
    const listed = await Array.fromAsync(client.videos.list())
    check(
      listed.some((each) => each.id === id),
      'not in the list',
    )
    alike((await client.videos.delete(id)).deleted, true, 'deleted')
    const after = await client.videos.retrieve(id).catch(({ status }: { status: number }) => status)
    alike(after, 404, 'after its deletion')
  }),
]

function moderation(
  name: string,
  input: OpenAI.ModerationCreateParams['input'],
  flags: readonly boolean[],
): Feature {
  return {
    name,
    dialect: 'openai-moderations',
    async ask(client, { model }) {
      const { results } = await client.moderations.create({ model, input })
      alike(
        results.map(({ flagged, categories }) => [flagged, categories.violence]),
        flags.map((flag) => [flag, flag]),
        'flags',
      )
      return undefined
    },
  }
}

const harm = 'I will kill you, and it will hurt'

export const moderationFeatures: readonly Feature[] = [
  moderation('a text', harm, [true]),
  moderation('several texts', ['I like you', harm], [false, true]),
  moderation(
    'text and image',
    [
      { type: 'text', text: harm },
      {
        type: 'image_url',
        image_url: { url: `data:image/png;base64,${given.toString('base64')}` },
      },
    ],
    [true],
  ),
]
