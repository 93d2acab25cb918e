// The sandbox's models for images and audio: which answers what.

import {
  type MediaAdapter,
  type MediaCall,
  MediaFault,
  type MediaReply,
  type MediaTools,
} from '../../media.ts'
import { parseSandboxModel, type SandboxModel, type SandboxSettings } from '../settings.ts'
import { beforeReply, spoiledMedia } from './faults.ts'
import { imageReply } from './images.ts'
import { speechReply } from './speech.ts'
import { transcriptReply } from './transcript.ts'

type Answer = (call: MediaCall, tools: MediaTools) => MediaReply

function adapter(model: SandboxModel, answer: Answer): MediaAdapter {
  return {
    async serve(call, tools) {
      const settings = settingsOf(call, model)
      await beforeReply(settings, tools)
      return spoiledMedia(answer(call, tools), settings, tools)
    },
  }
}

function settingsOf({ model: name, dialect }: MediaCall, model: SandboxModel): SandboxSettings {
  const settings = parseSandboxModel(name)
  if (settings?.model === model) return settings
  throw new MediaFault({
    kind: 'unknown_model',
    message: `the sandbox has no model '${name}' for ${dialect}, only ${model}`,
  })
}

export const sandboxImages = adapter('sandbox/image', imageReply)
export const sandboxTranscripts = adapter('sandbox/transcription', transcriptReply)
export const sandboxSpeech = adapter('sandbox/speech', speechReply)
