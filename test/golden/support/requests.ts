// Requests in the form of the hub, one for each thing that a client may ask.

import type { ChatRequest } from '../../../src/wire/ir.ts'
import { type Asked, hello, said } from './asked.ts'
import { mediaRequests } from './requests-media.ts'
import { optionRequests } from './requests-options.ts'
import { toolRequests } from './requests-tools.ts'

const textRequests: Readonly<Record<string, Asked>> = {
  text: {
    messages: [said('system', 'Be brief.'), said('user', 'Hi.'), said('assistant', 'Yes?'), hello],
    maxOutputTokens: 100,
    temperature: 0,
  },
  unicode: {
    messages: [said('system', 'שלום ‮'), said('user', 'Gru\u0308ße 👩‍👩‍👧‍👦 𝕏 日本\u0000\u2028')],
  },
  'text-one': {},
  stream: { stream: true },
  'text-blank': {
    messages: [said('user', '', ' ', 'Hi.'), said('assistant', ''), said('user', 'Still there?')],
  },
  'turns-of-a-role': {
    messages: [said('user', 'One.'), said('user', 'Two.', 'Three.'), said('assistant', 'Four.')],
  },
  'system-later': {
    messages: [
      said('developer', 'Be brief.'),
      said('system', 'Be kind.'),
      hello,
      said('assistant', 'Yes?'),
      said('system', 'Be quick.'),
      said('user', 'Go on.'),
    ],
  },
  'system-alone': { messages: [said('system', 'Say hello.')] },
  'assistant-first': { messages: [said('assistant', 'Yes?'), hello] },
}

/** Every case by its name; required fields that a case does not set are filled in. */
export const requestCases: readonly (readonly [name: string, request: ChatRequest])[] =
  Object.entries({ ...textRequests, ...toolRequests, ...mediaRequests, ...optionRequests }).map(
    ([name, asked]) => [name, { model: 'asked', messages: [hello], stream: false, ...asked }],
  )
