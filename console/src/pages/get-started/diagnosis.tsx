// What is wrong with a request that arrived, and what to change: explains the doctor's codes.

import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import type { Arrival } from './arrivals.ts'

interface Finding {
  readonly title: MessageDescriptor
  readonly fix: MessageDescriptor
}

const findings: Readonly<Record<string, Finding>> = {
  key_missing: {
    title: msg`No key came with the request`,
    fix: msg`Set the key in the client. It is sent as Authorization: Bearer and the key.`,
  },
  key_unknown: {
    title: msg`No key here is like the one that came`,
    fix: msg`Copy the whole secret again. If it is lost, rotate the key for a new one.`,
  },
  key_misplaced: {
    title: msg`The key came in a place where none is looked for`,
    fix: msg`Send it in the header Authorization, as Bearer and the key.`,
  },
  key_padded: {
    title: msg`The header has more than the key`,
    fix: msg`Remove quotes, blanks, brackets or a second Bearer.`,
  },
  key_damaged: {
    title: msg`The key is cut short, mistyped or from before a rotation`,
    fix: msg`Paste the whole secret again, as it was shown when it was made.`,
  },
  key_is_management: {
    title: msg`A management key calls no models`,
    fix: msg`Use an API key: management keys are for the control API.`,
  },
  key_disabled: {
    title: msg`The key is disabled`,
    fix: msg`Enable it on the page of API keys, or use another one.`,
  },
  key_expired: {
    title: msg`The key has expired`,
    fix: msg`Give it a later expiry, or make another one.`,
  },
  account_closed: {
    title: msg`The account is suspended`,
    fix: msg`Ask the operator of this gateway.`,
  },
  address_not_allowed: {
    title: msg`The key may not be used from this address`,
    fix: msg`Add the address to the key's list, or send the request from one that is on it.`,
  },
  path_doubled: {
    title: msg`A part of the path is repeated`,
    fix: msg`The client adds the path itself: give it the base address alone.`,
  },
  path_unknown: {
    title: msg`Nothing is served at this path`,
    fix: msg`Check the base address: for most clients it ends in /v1.`,
  },
  version_missing: {
    title: msg`The version is missing in the path`,
    fix: msg`Add /v1 to the base address of the client.`,
  },
  method_not_allowed: {
    title: msg`This path takes another method`,
    fix: msg`Most requests to models are POST: see the client's documentation.`,
  },
  websocket_not_served: {
    title: msg`Responses are not served over WebSocket`,
    fix: msg`Nothing to do for most clients: they continue with server-sent events by themselves.`,
  },
  endpoint_not_offered: {
    title: msg`This interface is not offered here`,
    fix: msg`Choose another one in the client: chat completions work with every chat model.`,
  },
  model_unknown: {
    title: msg`The key's group has no such model`,
    fix: msg`Choose a model on the page Models, or use a key of another group.`,
  },
  model_not_allowed: {
    title: msg`The key's own list leaves this model out`,
    fix: msg`Add the model to the key, or use another key.`,
  },
  wrong_format: {
    title: msg`The body is in the format of another path`,
    fix: msg`Choose the other format in the client, or the path that takes it.`,
  },
  request_invalid: {
    title: msg`A field of the request is wrong`,
    fix: msg`Change the field that is named, or update the client.`,
  },
  no_credit: {
    title: msg`The balance or the key's spend limit is used up`,
    fix: msg`Top up, or raise the limit of the key.`,
  },
  rate_limited: {
    title: msg`Too many requests in a short time`,
    fix: msg`Wait as long as the reply says, or raise the key's limits.`,
  },
  failed_later: {
    title: msg`It came through, and failed at the vendor`,
    fix: msg`The setup is right. Open the request to see what happened there.`,
  },
}

/** Their detail is the reply's own message, which is in English; that of others says more exactly what `findings` say. */
const repeatReply: ReadonlySet<string> = new Set([
  'address_not_allowed',
  'endpoint_not_offered',
  'method_not_allowed',
  'no_credit',
  'rate_limited',
  'refused',
  'request_invalid',
  'websocket_not_served',
])

/** A code of a newer gateway is shown with the gateway's own sentence. */
export function Diagnosis({ arrival }: { readonly arrival: Arrival }) {
  const { t, i18n } = useLingui()
  const { code, detail } = arrival
  const finding = findings[code]
  const isQuoted = finding === undefined || repeatReply.has(code)
  return (
    <>
      <p className="font-medium break-words">
        <span aria-hidden="true" className="mr-1.5 text-[10px] text-warning">
          ▲
        </span>
        {finding === undefined ? <Trans>The request was refused</Trans> : t(finding.title)}
        {arrival.model !== null && (
          <code className="ml-2 font-mono text-code font-normal break-all">{arrival.model}</code>
        )}
      </p>
      {finding !== undefined && <p className="mt-0.5">{t(finding.fix)}</p>}
      {arrival.suggestion !== null && (
        <p className="mt-0.5">
          <Trans>
            Perhaps you meant <code className="font-mono text-code">{arrival.suggestion}</code>
          </Trans>
        </p>
      )}
      {isQuoted ? (
        <p className="mt-0.5 break-words text-text-2">
          <Trans>
            The reply says: <span lang="en">{detail}</span>
          </Trans>
        </p>
      ) : (
        i18n.locale === 'en' && <p className="mt-0.5 break-words text-text-2">{detail}</p>
      )}
    </>
  )
}
