// The sections of the file whose settings may also be changed while servers run, and their allowed values.

import { z } from 'zod'
import { usageExport } from './schema-export.ts'
import { historyBounds, historyModes } from './schema-history.ts'
import { identityProviders } from './schema-identity.ts'
import {
  choice,
  identifier,
  instant,
  key,
  pairs,
  part,
  section,
  wholeNumber,
  yesOrNo,
} from './schema-parts.ts'

const language = z
  .string()
  .regex(/^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/, 'expected a language such as en or zh-CN')

const notice = section({
  severity: key(choice(['info', 'warning', 'critical']), 'How much it matters.', 'info'),
  text: pairs(language, z.string().regex(/\S/, 'must not be empty').max(2_000))
    .refine((texts) => Object.keys(texts).length > 0, 'expected at least one language')
    .meta({ description: 'What it says, by language: { en: "...", zh-CN: "..." }.' }),
  from: key(instant(), 'Shown from then on; left out: at once.'),
  until: key(instant(), 'Shown until then; left out: until it is taken away.'),
}).refine(({ from, until }) => from === null || until === null || from < until, {
  path: ['until'],
  error: 'expected a time after from',
})

const keptDays = wholeNumber(1, 3_650)

/** Keyed by the setting's name, which is its path in the file. */
export const runTimeValues = {
  'identity.signUp': choice(['open', 'invite', 'closed']),
  'identity.defaultGroup': identifier,
  'usage.keepDays': keptDays,
  'history.mode': choice(historyModes),
  'history.keepDays': keptDays,
  notices: z.array(notice, 'expected a list of notices').max(20, 'expected at most 20 notices'),
  statusPage: yesOrNo,
} as const

export const identity = section({
  signUp: key(
    runTimeValues['identity.signUp'],
    'Who may make an account by signing in; left out: as set at run time, else open.',
  ),
  defaultGroup: key(
    runTimeValues['identity.defaultGroup'],
    'Group of new accounts; left out: as set at run time, else default.',
  ),
  providers: key(
    identityProviders,
    'Who vouches for people, in the order of their buttons; read from the file alone.',
    [],
  ),
})

export const usage = section({
  keepDays: key(
    runTimeValues['usage.keepDays'],
    'How long the record of each request is kept, totals and journal aside; left out: as set at run time, else for ever.',
  ),
  keepRefusalsDays: key(
    keptDays,
    'How long the record of a request is kept that was refused before a vendor was asked, and cost nothing; no longer than others.',
    7,
  ),
  archive: key(
    yesOrNo,
    'Records are written to files before they are removed: in the bucket of media.store.s3, else in archive/ of the data directory.',
    false,
  ),
  export: part(usageExport, 'Where records leave to, as they are settled.'),
})

export const history = section({
  mode: key(
    runTimeValues['history.mode'],
    'What is kept of the messages of accounts that have not chosen themselves; left out: as set at run time, else off.',
  ),
  keepDays: key(
    runTimeValues['history.keepDays'],
    'How long messages are kept where their account has not chosen; left out: as set at run time, else 30.',
  ),
  ...historyBounds,
})

export const notices = key(
  runTimeValues.notices,
  'What everybody who is signed in is told; left out: as set at run time, else nothing.',
)

export const statusPage = key(
  runTimeValues.statusPage,
  'Anyone may see how the models of public groups have done in 90 days; left out: as set at run time, else false.',
)
