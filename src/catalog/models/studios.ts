// Models of the vendors that make only images, audio or video, from their own model pages.

import { draws, films, type ShippedModels, speaks, transcribes } from '../shipped.ts'

/** docs.bfl.ai; FLUX.2 [dev] is not offered by its maker's own service. */
export const bfl: ShippedModels = {
  vendor: 'bfl',
  ownedBy: 'black-forest-labs',
  models: {
    'flux-2-max': draws,
    'flux-2-pro': draws,
    'flux-2-flex': draws,
    'flux-2-klein-9b': draws,
    'flux-2-klein-4b': draws,
    'flux-kontext-max': draws,
    'flux-kontext-pro': draws,
    'flux-pro-1.1-ultra': draws,
    'flux-pro-1.1': draws,
    'flux-pro': draws,
    'flux-dev': draws,
  },
}

/** platform.stability.ai/docs/api-reference */
export const stability: ShippedModels = {
  vendor: 'stability',
  ownedBy: 'stability',
  models: {
    'stable-image-ultra': draws,
    'stable-image-core': draws,
    'sd3.5-large': draws,
    'sd3.5-large-turbo': draws,
    'sd3.5-medium': draws,
  },
}

/** fal.ai/models */
export const fal: ShippedModels = {
  vendor: 'fal',
  ownedBy: 'fal',
  models: {
    'fal-ai/flux-pro/v1.1-ultra': draws,
    'fal-ai/flux-pro/v1.1': draws,
    'fal-ai/flux/dev': draws,
    'fal-ai/flux/schnell': draws,
    'fal-ai/nano-banana-pro': draws,
    'fal-ai/nano-banana-2': draws,
    'fal-ai/nano-banana': draws,
    'fal-ai/bytedance/seedream/v3/text-to-image': draws,
    'fal-ai/ideogram/v3': draws,
    'fal-ai/recraft/v3/text-to-image': draws,
    'fal-ai/stable-diffusion-v35-medium': draws,
    'bytedance/seedance-2.0/text-to-video': films,
    'bytedance/seedance-2.0/image-to-video': films,
    'minimax/h3/text-to-video': films,
  },
}

/** app.klingai.com/global/dev/document-api */
export const kling: ShippedModels = {
  vendor: 'kling',
  ownedBy: 'kling',
  models: {
    'kling-v2-6': films,
    'kling-v2-5-turbo': films,
    'kling-v2-1-master': films,
    'kling-v2-1': films,
    'kling-v2-master': films,
    'kling-v1-6': films,
  },
}

/** developers.deepgram.com/docs/models-languages-overview */
export const deepgram: ShippedModels = {
  vendor: 'deepgram',
  ownedBy: 'deepgram',
  models: {
    'nova-3': transcribes,
    'nova-3-medical': transcribes,
    'nova-2': transcribes,
    'aura-2-thalia-en': speaks,
    'aura-2-andromeda-en': speaks,
    'aura-2-apollo-en': speaks,
    'aura-asteria-en': speaks,
  },
}

/** elevenlabs.io/docs/models */
export const elevenlabs: ShippedModels = {
  vendor: 'elevenlabs',
  ownedBy: 'elevenlabs',
  models: {
    eleven_v4: speaks,
    eleven_v4_turbo: speaks,
    eleven_v3: speaks,
    eleven_multilingual_v2: speaks,
    eleven_flash_v2_5: speaks,
    eleven_turbo_v2_5: speaks,
    eleven_flash_v2: speaks,
    scribe_v2: transcribes,
    scribe_v1: transcribes,
  },
}
