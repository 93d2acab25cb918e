// All data of the account as a file, and deleting the account.

import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { change } from '../../api/client.ts'
import { type Person, queryClient, useBalance } from '../../api/queries.ts'
import { apiAddress } from '../../api/viewing.ts'
import { forgetConversations } from '../../state/conversations.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Checkbox } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Card } from '../../ui/page.tsx'
import { Money } from '../../ui/values.tsx'

export function MyData({ me }: { readonly me: Person }) {
  const { t } = useLingui()
  const [isLeaving, setLeaving] = useState(false)
  const [forfeits, setForfeits] = useState(false)
  const { data: balance } = useBalance()
  return (
    <>
      <Card title={<Trans>Export</Trans>}>
        <p className="mb-3 max-w-2xl text-text-2">
          <Trans>
            A ZIP with usage, keys (without secrets) and messages as JSON lines, and media as files.
          </Trans>
        </p>
        <a href={apiAddress('/api/me/export')} download className={buttonClass()}>
          <Icon name="download" />
          <Trans>Export all my data</Trans>
        </a>
      </Card>
      <Card title={<Trans>Delete the account</Trans>}>
        <p className="mb-3 max-w-2xl text-text-2">
          <Trans>
            Keys stop within a second, sessions end, and your name, e-mail, identities and messages
            are deleted permanently. The journal stays, without your name.
          </Trans>
        </p>
        <Button variant="danger" icon="trash" onClick={() => setLeaving(true)}>
          <Trans>Delete my account</Trans>
        </Button>
        {isLeaving && (
          <Confirm
            title={<Trans>Delete my account?</Trans>}
            action={t`Delete my account`}
            typed={me.id}
            onConfirm={async () => {
              await change('delete', '/api/me', { body: { confirm: me.id, forfeit: forfeits } })
              queryClient.clear()
              forgetConversations(me.id)
              location.assign('/console/sign-in')
            }}
            onClose={() => setLeaving(false)}
          >
            <p>
              <Trans>This cannot be undone.</Trans>
            </p>
            {balance !== undefined && BigInt(balance.postedNano) > 0n && (
              <Checkbox
                label={
                  <Trans>
                    I give up the{' '}
                    <Money exact nano={balance.postedNano} currency={balance.currency} /> that are
                    left.
                  </Trans>
                }
                checked={forfeits}
                onChange={(event) => setForfeits(event.target.checked)}
              />
            )}
          </Confirm>
        )}
      </Card>
    </>
  )
}
