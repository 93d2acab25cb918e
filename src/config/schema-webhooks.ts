// The section of the file on webhooks that receive the operators' alerts.

import { z } from 'zod'
import { isHttpUrl } from './rules.ts'
import { checkedText, choice, identifier, key, secretText, section } from './schema-parts.ts'

/** Codes of the alerts on the operators' overview page. */
export const operatorEvents = [
  'ledger_closed',
  'channel_disabled',
  'channel_open',
  'settlement_late',
  'set_aside',
  'records_missing',
  'reconcile_difference',
  'price_missing',
  'archive_failing',
  'export_failing',
  'warning',
] as const

const webhook = section({
  id: identifier.meta({ description: 'Unique name of the webhook, as in posts and in the log.' }),
  url: checkedText('expected an http or https address', isHttpUrl).meta({
    description: 'Address to which alerts are posted; it may be in a private network.',
  }),
  secret: secretText().min(16, 'expected at least 16 characters').meta({
    description: 'Secret with which posts are signed, 16 characters or more.',
    fromFile: true,
  }),
  events: key(
    z.array(choice(operatorEvents), 'expected a list of events').min(1, 'expected an event'),
    'Alerts that are posted; left out: all.',
  ),
})

export const webhooks = z
  .array(webhook, 'expected a list of webhooks')
  .refine((all) => new Set(all.map(({ id }) => id)).size === all.length, {
    error: 'expected a different id for each webhook',
  })
