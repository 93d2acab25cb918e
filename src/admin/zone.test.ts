// Tests intervals in the local time of zones, also when clocks are set forward or back.

import { describe, expect, test } from 'bun:test'
import { addDays, cutsOf, dayMs, isZone, localOf, momentOf, startOfDay, zoneIn } from './zone.ts'

const at = Date.parse
const texts = (cuts: readonly number[] | null) => cuts?.map((cut) => new Date(cut).toISOString())
const cuts = (
  interval: 'hour' | 'day' | 'week' | 'month',
  name: string,
  from: string,
  to: string,
) => {
  const [since, until] = [at(from), at(to)]
  return texts(cutsOf(interval, zoneIn(name, since, until), { since, until, most: 100 }))
}

describe('where intervals begin', () => {
  test('days of a zone that is 5:45 ahead', () => {
    expect(cuts('day', 'Asia/Kathmandu', '2026-11-01T00:00:00Z', '2026-11-03T00:00:00Z')).toEqual([
      '2026-11-01T00:00:00.000Z',
      '2026-11-01T18:15:00.000Z',
      '2026-11-02T18:15:00.000Z',
    ])
  })

  test('a day of 25 hours and one of 23', () => {
    expect(cuts('day', 'Europe/Berlin', '2026-10-24T22:00:00Z', '2026-10-26T23:00:00Z')).toEqual([
      '2026-10-24T22:00:00.000Z',
      '2026-10-25T23:00:00.000Z',
    ])
    expect(cuts('day', 'Europe/Berlin', '2026-03-28T23:00:00Z', '2026-03-30T22:00:00Z')).toEqual([
      '2026-03-28T23:00:00.000Z',
      '2026-03-29T22:00:00.000Z',
    ])
  })

  test('an hour that comes twice, and half an hour that does', () => {
    expect(cuts('hour', 'Europe/Berlin', '2026-10-25T00:00:00Z', '2026-10-25T03:00:00Z')).toEqual([
      '2026-10-25T00:00:00.000Z',
      '2026-10-25T01:00:00.000Z',
      '2026-10-25T02:00:00.000Z',
    ])
    // At 2:00 the clocks of Lord Howe go back to 1:30.
    expect(
      cuts('hour', 'Australia/Lord_Howe', '2026-04-04T14:00:00Z', '2026-04-04T17:00:00Z'),
    ).toEqual([
      '2026-04-04T14:00:00.000Z',
      '2026-04-04T15:00:00.000Z',
      '2026-04-04T15:30:00.000Z',
      '2026-04-04T16:30:00.000Z',
    ])
  })

  test('a day that begins at 1:00 because midnight is skipped', () => {
    // Cairo: 2026-04-24 begins at 1:00.
    expect(cuts('day', 'Africa/Cairo', '2026-04-23T12:00:00Z', '2026-04-25T00:00:00Z')).toEqual([
      '2026-04-23T12:00:00.000Z',
      '2026-04-23T22:00:00.000Z',
      '2026-04-24T21:00:00.000Z',
    ])
  })

  test('weeks begin on Monday, months on their first', () => {
    expect(cuts('week', 'UTC', '2026-11-01T00:00:00Z', '2026-11-10T00:00:00Z')).toEqual([
      '2026-11-01T00:00:00.000Z',
      '2026-11-02T00:00:00.000Z',
      '2026-11-09T00:00:00.000Z',
    ])
    expect(cuts('month', 'Asia/Tokyo', '2026-01-30T15:00:00Z', '2026-04-01T00:00:00Z')).toEqual([
      '2026-01-30T15:00:00.000Z',
      '2026-01-31T15:00:00.000Z',
      '2026-02-28T15:00:00.000Z',
      '2026-03-31T15:00:00.000Z',
    ])
  })

  test('too many are not made', () => {
    const [since, until] = [at('2026-01-01'), at('2027-01-01')]
    const zone = zoneIn('UTC', since, until)
    expect(cutsOf('hour', zone, { since, until, most: 100 })).toBeNull()
  })
})

describe('local times', () => {
  test('days are added by the clock', () => {
    const zone = zoneIn('Europe/Berlin', at('2026-10-01'), at('2026-11-01'))
    const noon = at('2026-10-24T10:00:00Z')
    expect(addDays(zone, noon, 1) - noon).toBe(dayMs + 3_600_000)
    expect(new Date(startOfDay(zone, noon)).toISOString()).toBe('2026-10-23T22:00:00.000Z')
    expect(momentOf(zone, localOf(zone, noon))).toBe(noon)
  })

  test('zones are known by their names', () => {
    expect(isZone('America/St_Johns')).toBe(true)
    for (const name of ['Mars/Olympus', '', 'x'.repeat(5_000), '../etc', 'UTC\0']) {
      expect(isZone(name)).toBe(false)
    }
  })
})
