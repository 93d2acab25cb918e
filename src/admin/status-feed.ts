// Incidents as a public feed: each state of an incident is an item, so that readers learn of its end.

import { createHash } from 'node:crypto'
import { type FeedPlace, rss } from './rss.ts'
import type { StatusPage } from './status-page.ts'

type Incident = StatusPage['incidents'][number]

const states = { scheduled: 'Announced', ongoing: 'Under way', over: 'Over' } as const

/** RSS 2.0, in English where the incident has an English text. */
export function statusFeed({ incidents }: Pick<StatusPage, 'incidents'>, place: FeedPlace): string {
  const items = incidents.map((incident) => ({
    title: `${states[incident.state]}: ${textOf(incident)}`,
    link: `${place.address}/console/status`,
    id: idOf(incident),
    at: incident.state === 'over' ? incident.until : incident.from,
    text: [textOf(incident), spanOf(incident)].filter((part) => part !== '').join(' '),
  }))
  return rss('Incidents', items, place)
}

function textOf({ text }: Incident): string {
  return text['en'] ?? Object.values(text)[0] ?? ''
}

function spanOf({ from, until }: Incident): string {
  return [from === null ? '' : `From ${from}.`, until === null ? '' : `Until ${until}.`]
    .filter((part) => part !== '')
    .join(' ')
}

function idOf({ severity, state, text, from }: Incident): string {
  const said = JSON.stringify([severity, text, from])
  const digest = createHash('sha256').update(said).digest('base64url')
  return `incident:${digest.slice(0, 22)}:${state}`
}
