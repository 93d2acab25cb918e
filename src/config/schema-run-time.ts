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
  severity: key(choice(['info', 'warning', 'critical']), 'Severity of the notice.', 'info'),
  text: pairs(language, z.string().regex(/\S/, 'must not be empty').max(2_000))
    .refine((texts) => Object.keys(texts).length > 0, 'expected at least one language')
    .meta({ description: 'Text by language: { en: "...", zh-CN: "..." }.' }),
  from: key(instant(), 'Time from which the notice is shown; left out: at once.'),
  until: key(instant(), 'Time until which the notice is shown; left out: until it is removed.'),
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
    'Who may create an account by signing in: open: anybody; invite: those with an invitation; closed: nobody. Left out: as set at run time, else open.',
  ),
  defaultGroup: key(
    runTimeValues['identity.defaultGroup'],
    'Group of new accounts; left out: as set at run time, else default.',
  ),
  adminFreshMinutes: key(
    wholeNumber(1, 43_200),
    'Minutes for which a sign-in allows changes by administrators (of balances, prices, channels, settings, people) and secrets of keys; after that they have to sign in again. Left out: as long as their session lasts. Management keys and the command line are not limited.',
  ),
  mostKeys: key(
    wholeNumber(1, 1_000_000),
    'Most API keys that an account may have by its own doing; operators may make more for it.',
    1_000,
  ),
  providers: key(
    identityProviders,
    'Identity providers through which people sign in, in the order of their buttons; they can be set only in the file.',
    [],
  ),
})

export const usage = section({
  keepDays: key(
    runTimeValues['usage.keepDays'],
    'Days that the record of each request is kept; totals and the journal stay. Left out: as set at run time, else for ever.',
  ),
  keepRefusalsDays: key(
    keptDays,
    'Days that the record of a request that was refused before a vendor was asked is kept, at most keepDays.',
    7,
  ),
  archive: key(
    yesOrNo,
    'Whether records are written to files before keepDays removes them: in the bucket of media.store.s3, else in archive/ of the data folder.',
    false,
  ),
  export: part(usageExport, 'Destinations to which records are sent as they are settled.'),
})

export const history = section({
  mode: key(
    runTimeValues['history.mode'],
    'What is stored of the messages of accounts that have not chosen; left out: as set at run time, else off.',
  ),
  keepDays: key(
    runTimeValues['history.keepDays'],
    'Days that messages are stored if their account has not chosen; left out: as set at run time, else 30.',
  ),
  ...historyBounds,
})

export const notices = key(
  runTimeValues.notices,
  'Notices shown to everybody who is signed in; left out: as set at run time, else none.',
)

export const statusPage = key(
  runTimeValues.statusPage,
  'Whether anyone may see the availability of the models of public groups in the last 90 days; left out: as set at run time, else false.',
)
