// Why a sign-in was refused, by the code in the address, and what to do.

import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { useLingui } from '@lingui/react/macro'

const reasons: Readonly<Record<string, MessageDescriptor>> = {
  denied: msg`The provider says that you did not agree. Begin again, and allow it to say who you are.`,
  not_believed: msg`The provider’s answer is not valid. Begin again; if it happens again, tell the operator.`,
  invalid_state: msg`This sign-in was not begun in this browser, took more than ten minutes, or was finished before. Begin again.`,
  link_not_valid: msg`This link is not valid: it was used before, or it has expired. The command “tollgate admin link” prints another.`,
  invalid_request: msg`The address of this sign-in is not right. Begin again here.`,
  not_signed_in: msg`Your session has ended. Sign in, then link the other provider again.`,
  not_fresh: msg`Linking a provider asks for a sign-in of the last 15 minutes. Sign in again, then link it.`,
  sign_up_closed: msg`Nobody new can join this gateway at the moment. Ask its operator.`,
  invitation_needed: msg`Who is new here needs an invitation, and this one is missing, used or expired.`,
  account_closed: msg`This account is suspended. Ask the operator of the gateway.`,
  foreign_origin: msg`The sign-in was asked for by a page of another site. Begin again here.`,
  not_found: msg`This gateway has no such provider. Choose one below.`,
  linked_elsewhere: msg`That identity belongs to another account here, and is not taken over. Sign in with it, or unlink it there first.`,
  too_many_attempts: msg`Too many attempts from your network. Wait a minute, then begin again.`,
  provider_away: msg`The provider does not answer at the moment. Try again in a minute, or use another one.`,
}

export function Refusal({ code }: { readonly code: string }) {
  const { t } = useLingui()
  const reason = reasons[code] ?? msg`The sign-in was refused. Begin again.`
  return (
    <p role="alert" className="rounded-card border border-danger/40 bg-danger-tint p-3">
      {t(reason)}
    </p>
  )
}
