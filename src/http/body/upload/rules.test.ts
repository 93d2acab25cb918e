// Tests that files get the name and type of what they contain.

import { expect, test } from 'bun:test'
import { namedAs } from './rules.ts'

test.each([
  ['image/png', 'a.png', 'a.png'],
  ['image/png', 'a.PNG', 'a.PNG'],
  ['image/jpeg', 'a.jpeg', 'a.jpeg'],
  ['image/jpeg', 'blob', 'blob.jpg'],
  ['audio/mpeg', 'sound.wav', 'sound.wav.mp3'],
  ['audio/mpeg', 'sound.mpga', 'sound.mpga'],
  ['video/mp4', '', 'file.mp4'],
  ['audio/webm', `${'x'.repeat(255)}`, `${'x'.repeat(250)}.webm`],
])('%s as %j is %j', (type, given, name) => expect(namedAs(type, given, 'file')).toBe(name))
