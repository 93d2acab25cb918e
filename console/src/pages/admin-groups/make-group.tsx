// Makes a group.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { change } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { showToast } from '../../ui/toast.tsx'
import { GroupForm } from './group-form.tsx'
import { refreshGroups } from './refresh.ts'
import { settingsOf } from './rows.ts'
import { useGroupForm } from './use-group-form.ts'

interface MakeGroupProps {
  readonly onClose: () => void
  readonly onMade: (id: string) => void
}

const newGroup = { id: '', revision: 0, settings: settingsOf({ document: {} }) }

export function MakeGroup({ onClose, onMade }: MakeGroupProps) {
  const { t } = useLingui()
  const client = useQueryClient()
  const formId = useId()
  const [isTyped, setTyped] = useState(false)
  const state = useGroupForm(newGroup, async (body) => {
    const { id } = await change('post', '/api/groups', { body })
    await refreshGroups(client)
    showToast({ text: t`The group ${id} is made.`, tone: 'info' })
    onMade(id)
  })
  return (
    <Dialog
      keep={isTyped}
      busy={state.form.formState.isSubmitting}
      title={<Trans>New group</Trans>}
      onClose={onClose}
      footer={
        <>
          <Button disabled={state.form.formState.isSubmitting} onClick={onClose}>
            <Trans>Cancel</Trans>
          </Button>
          <Button
            variant="primary"
            type="submit"
            form={formId}
            busy={state.form.formState.isSubmitting}
          >
            <Trans>Make group</Trans>
          </Button>
        </>
      }
    >
      <div onChange={() => setTyped(true)}>
        <GroupForm formId={formId} shown={newGroup} state={state} />
      </div>
    </Dialog>
  )
}
