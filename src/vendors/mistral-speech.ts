// Mistral's speech: a whole reply with base64 in JSON. Mistral API, "Speech" (POST /v1/audio/speech).

import { Buffer } from 'node:buffer'
import { invalidRequest } from '../errors.ts'
import { isObject } from '../wire/json/value.ts'
import {
  droppedFields,
  speechFormat,
  speechTypes,
  textField,
  unreadable,
  voiceOf,
} from './audio-fields.ts'
import { Lifted } from './base64.ts'
import {
  checkSuccess,
  type MediaAdapter,
  type MediaCall,
  type MediaTools,
  type Payload,
  type SoundReply,
} from './media.ts'
import { piecesOf } from './sound-reply.ts'

async function speak(call: MediaCall, tools: MediaTools): Promise<SoundReply> {
  const { fields, model } = call
  if ((fields['speed'] ?? 1) !== 1)
    throw invalidRequest('speed is not possible with this model', 'speed')
  const format = speechFormat(call, ['mp3', 'opus', 'flac', 'wav', 'pcm'])
  const asked = {
    model,
    input: textField(fields, 'input') ?? '',
    voice_id: voiceOf(call),
    response_format: format,
  }
  const url = tools.addressOf(call.dialect, model)
  const body = [Buffer.from(JSON.stringify(asked), 'utf8')]
  const reply = await tools.ask({ method: 'POST', url, body, signed: true })
  checkSuccess(reply, tools)
  const lifted = await Lifted.of(reply.payload, tools.spool, () => tools.wait(0))
  const sound = isObject(lifted.json) ? lifted.bytesAt(lifted.json.audio_data) : null
  if (sound === null) throw unreadable('the reply has no sound')
  return {
    kind: 'sound',
    type: speechTypes.get(format) ?? '',
    chunks: sent(sound, format),
    usage: () => null,
    dropped: droppedFields(call, ['speed']),
  }
}

async function* sent(sound: Payload, format: string): AsyncGenerator<Uint8Array> {
  for (const piece of piecesOf(sound)) yield format === 'pcm' ? sixteenBits(piece) : piece
}

const loudest = 32_767

/** Converts Mistral's 32-bit float samples to OpenAI's 16-bit integers. A piece holds whole samples. */
function sixteenBits(piece: Uint8Array): Uint8Array {
  const view = new DataView(piece.buffer, piece.byteOffset, piece.byteLength)
  const samples = Buffer.alloc(Math.floor(piece.byteLength / 4) * 2)
  for (let at = 0; at + 4 <= piece.byteLength; at += 4) {
    const level = Math.min(1, Math.max(-1, view.getFloat32(at, true)))
    samples.writeInt16LE(Math.round(level * loudest) || 0, at / 2)
  }
  return samples
}

export const voxtralSpeech: MediaAdapter = { serve: speak }
