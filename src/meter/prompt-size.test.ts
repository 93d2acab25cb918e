// Tests that a prompt's size also depends on what the client asks for in other fields of the request.

import { expect, test } from 'bun:test'
import { peekGemini } from '../wire/gemini/peek.ts'
import { promptMedia } from './prompt-size.ts'

const film = { fileData: { mimeType: 'video/mp4', fileUri: 'gs://a/b' } }
const picture = { fileData: { mimeType: 'image/png', fileUri: 'gs://a/c' } }

function sized(part: object, generationConfig: object) {
  const contents = [{ role: 'user', parts: [part] }]
  const body = Buffer.from(JSON.stringify({ contents, generationConfig }))
  return promptMedia(peekGemini(body, { model: 'gemini-3.8-flash' }), ['gemini-3.8-flash']).likely
}

test("a request's resolution counts for each film and picture that has none of its own", () => {
  const high = { mediaResolution: 'MEDIA_RESOLUTION_HIGH' }
  const low = { media_resolution: 'MEDIA_RESOLUTION_LOW' }
  expect(sized(film, {}).other).toBe(60 * 110)
  expect(sized(film, high).other).toBe(60 * 320)
  expect(sized({ ...film, videoMetadata: { fps: '24' } }, high).other).toBe(60 * 320 * 24)
  expect(sized(picture, low).image).toBe(280)
  const own = { mediaResolution: { level: 'MEDIA_RESOLUTION_ULTRA_HIGH' } }
  expect(sized({ ...picture, ...own }, low).image).toBe(2_240)
})
