// Tests secrets: their form, that no two are equal, and that a mistyped one is detected at once.

import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import {
  createSecret,
  hashSecret,
  hintOf,
  looksWellFormed,
  managementPrefix,
  randomBase62,
} from './secret.ts'

const count = 100_000

test('100,000 secrets have the form and the checksum, and no two are alike', () => {
  const seen = new Set<string>()
  for (let index = 0; index < count; index += 1) {
    const secret = createSecret()
    if (!/^sk-tg-[0-9A-Za-z]{38}$/.test(secret) || !looksWellFormed(secret)) throw new Error(secret)
    seen.add(secret)
  }
  expect(seen.size).toBe(count)
})

test('a change of any one character to any other is recognised', () => {
  const taken: string[] = []
  for (let round = 0; round < 20; round += 1) {
    const secret = createSecret()
    for (let place = 0; place < secret.length; place += 1) {
      for (let code = 32; code < 127; code += 1) {
        const character = String.fromCharCode(code)
        if (character === secret[place]) continue
        const flipped = secret.slice(0, place) + character + secret.slice(place + 1)
        if (looksWellFormed(flipped)) taken.push(`${secret} -> ${flipped}`)
      }
    }
  }
  expect(taken).toEqual([])
})

test('other lengths, and text that merely begins like one, are recognised', () => {
  const secret = createSecret()
  for (const other of [
    '',
    'sk-tg-',
    secret.slice(0, -1),
    `${secret}a`,
    `${secret}\n`,
    ` ${secret}`,
  ]) {
    expect(looksWellFormed(other)).toBe(false)
  }
})

test('each of the 62 characters is equally likely', () => {
  const counts = new Map<string, number>()
  const drawn = 620_000
  for (const character of randomBase62(drawn)) {
    counts.set(character, (counts.get(character) ?? 0) + 1)
  }
  expect(counts.size).toBe(62)
  const expected = drawn / 62
  let chiSquare = 0
  for (const seen of counts.values()) chiSquare += (seen - expected) ** 2 / expected
  // 61 degrees of freedom: a value above 130 occurs once in a million runs; a bias by `% 62` of 256 gives over 10,000.
  expect(chiSquare).toBeLessThan(130)
})

test('the hash is SHA-256, the hint shows four characters and no more', () => {
  const secret = createSecret()
  expect(hashSecret(secret)).toBe(createHash('sha256').update(secret).digest('hex'))
  expect(hintOf(secret)).toBe(`sk-tg-…${secret.slice(-4)}`)
  expect(hintOf('a-secret-of-another-form')).toBe('…form')
})

test('a secret that manages is told from one that calls models', () => {
  const managing = createSecret(managementPrefix)
  expect(looksWellFormed(managing, managementPrefix)).toBe(true)
  expect(looksWellFormed(managing)).toBe(false)
  expect(looksWellFormed(createSecret(), managementPrefix)).toBe(false)
  expect(looksWellFormed(`${managing.slice(0, -1)}_`, managementPrefix)).toBe(false)
  expect(hintOf(managing)).toBe(`sk-tgm-…${managing.slice(-4)}`)
})
