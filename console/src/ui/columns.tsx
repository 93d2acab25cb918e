// A menu that chooses which columns of a table are shown.

import { Trans, useLingui } from '@lingui/react/macro'
import { useMemo, useSyncExternalStore } from 'react'
import { chooseColumns, columnChoice, onColumns } from '../state/columns.ts'
import { Button } from './button.tsx'
import { Checkbox } from './field.tsx'
import { useColumnWidth } from './media.ts'
import { Popover } from './popover.tsx'
import type { Column } from './table.tsx'

type Chosen = Pick<Column<never>, 'id' | 'optional' | 'from'>

/** By column id; optional columns are hidden until they are chosen, others on a window that is too narrow for them. */
export function useColumnChoice(table: string, columns: readonly Chosen[]) {
  const choice = useSyncExternalStore(onColumns, () => columnChoice(table))
  const width = useColumnWidth()
  const visibility = useMemo(
    () =>
      Object.fromEntries(
        columns.map(({ id, optional = false, from = 0 }) => [
          id,
          choice[id] ?? (!optional && width >= from),
        ]),
      ),
    [columns, choice, width],
  )
  return {
    visibility,
    // Columns that nobody has chosen keep following the width of the window.
    choose: (id: string, isShown: boolean) => chooseColumns(table, { ...choice, [id]: isShown }),
    clear: () => chooseColumns(table, {}),
  }
}

interface ChooserProps<Row> {
  readonly id: string
  readonly columns: readonly Column<Row>[]
}

/** The button that opens the list of columns; stands in the head of the table's card. */
export function ColumnChooser<Row>({ id, columns }: ChooserProps<Row>) {
  const { t } = useLingui()
  const { visibility, choose, clear } = useColumnChoice(id, columns)
  return (
    <Popover label={t`Columns`} icon="columns">
      <fieldset className="flex max-h-80 flex-col gap-2 overflow-y-auto p-3">
        <legend className="sr-only">
          <Trans>Columns that are shown</Trans>
        </legend>
        {columns.map((column) => (
          <Checkbox
            key={column.id}
            label={column.name ?? column.header}
            checked={visibility[column.id] ?? true}
            onChange={(event) => choose(column.id, event.target.checked)}
          />
        ))}
        <Button onClick={() => clear()}>
          <Trans>Show the usual columns</Trans>
        </Button>
      </fieldset>
    </Popover>
  )
}
