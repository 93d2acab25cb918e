// Tests the form in which each model on fal accepts the duration of a video.

import { expect, test } from 'bun:test'
import { mediaCall, play } from '../../test/support/media-tools.ts'
import { falVideos } from './fal-videos.ts'

test.each([
  ['fal-ai/veo3.1', '8s'],
  ['fal-ai/sora-2/text-to-video', 8],
  ['bytedance/seedance-2.0/text-to-video', '8'],
])('%s gets its duration in its own form', async (model, duration) => {
  const job = 'https://queue.fal.run/requests/1'
  const played = play('fal', () => ({ json: { status_url: `${job}/status`, response_url: job } }))
  const fields = { prompt: 'a cat', seconds: '8', size: '1280x720' }
  await falVideos.start?.(mediaCall('openai-videos', model, fields), played.tools)
  expect(played.requests[0]?.json).toMatchObject({ duration })
})
