// Filters and range saved under a name with the account, so that other browsers have them too.

import { useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { parseSearch } from '../../app/search.ts'
import { chooseColumns } from '../../state/columns.ts'
import { later } from '../../ui/later.tsx'
import { Popover } from '../../ui/popover.tsx'
import { type RequestsSearch, savedSearch, validateRequestsSearch, withoutView } from './search.ts'

const ViewList = later(() => import('./view-list.tsx'), null)

interface SavedViewsProps {
  readonly search: RequestsSearch
  readonly onChange: (next: Partial<RequestsSearch>) => void
}

export function SavedViews({ search, onChange }: SavedViewsProps) {
  const { t } = useLingui()
  const [isOpen, setOpen] = useState(false)
  return (
    <Popover label={t`Saved views`} icon="filter" open={isOpen} onOpenChange={setOpen}>
      <ViewList
        current={savedSearch(search)}
        onChoose={({ search: chosen, columns }) => {
          onChange({ ...withoutView, ...validateRequestsSearch(parseSearch(chosen)) })
          if (columns !== undefined) chooseColumns('requests', columns)
          setOpen(false)
        }}
      />
    </Popover>
  )
}
