// The one table of the console: columns one may choose, server-side sorting, totals under the head, rows drawn only where
// they are seen, two-line cards on phones.

import { Trans, useLingui } from '@lingui/react/macro'
import {
  type ColumnDef,
  columnSizingFeature,
  columnVisibilityFeature,
  type RowData,
  tableFeatures,
  useTable,
} from '@tanstack/react-table'
import { memo, type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { Button } from './button.tsx'
import { useColumnChoice } from './columns.tsx'
import { Icon } from './icon.tsx'
import { type ColumnWidth, useIsPhone } from './media.ts'
import { type More, useSeen } from './use-seen.ts'

export interface Column<Row> {
  readonly id: string
  /** The head; a sentence-case noun. */
  readonly header: ReactNode
  /** For menus and cards, where the head is no text. */
  readonly name?: string
  readonly cell: (row: Row) => ReactNode
  /** Numbers stand right. */
  readonly align?: 'left' | 'right'
  /** The head sorts by it. */
  readonly sortable?: boolean
  /** Shown only once somebody chooses it. */
  readonly optional?: boolean
  /** Shown from this width of the window on, below it only once somebody chooses it. */
  readonly from?: ColumnWidth
  /** In pixels; left out: what the content needs. */
  readonly width?: number
  /** Holds names of any length: cut where the table would not fit its place, with all of it on hover. */
  readonly isLong?: boolean
  /** Holds what a row is known by, or what is read first: stays readable where the table is cut. */
  readonly isName?: boolean
}

export interface Sort {
  readonly by: string
  readonly descending: boolean
}

export interface TableProps<Row extends RowData> {
  /** Names the table, for screen readers. */
  readonly label: string
  /** Keeps which columns were chosen under this name. */
  readonly id: string
  /** The same array as long as the columns are the same. */
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly rowId: (row: Row) => string
  /** What people call a row, for its checkbox; left out: its id. */
  readonly rowName?: (row: Row) => string
  readonly sort?: Sort
  readonly onSort?: (sort: Sort) => void
  /** A row of sums under the head, by column. */
  readonly totals?: Readonly<Record<string, ReactNode>>
  /** Opens the row's detail: by click, and by Enter on the row. */
  readonly onOpen?: (row: Row) => void
  /** The row that is open. */
  readonly openId?: string | undefined
  /** The row whose part of a chart is pointed at. */
  readonly highlightedId?: string | undefined
  readonly selection?: {
    readonly ids: ReadonlySet<string>
    readonly onChange: (ids: ReadonlySet<string>) => void
  }
  /** In place of rows. */
  readonly empty: ReactNode
  /** Of a list in pages: asks for the next when its end is near. */
  readonly more?: More
  /** The row on a phone: a title with its state, then up to four facts. */
  readonly card: (row: Row) => { readonly title: ReactNode; readonly facts: readonly ReactNode[] }
  /** How many rows a phone shows at first, where other parts of the page follow; left out: all. */
  readonly firstCards?: number
  /** The height the rows scroll in, as CSS; left out: as high as they are. */
  readonly height?: string
}

interface PagedQuery {
  readonly hasNextPage: boolean
  readonly isFetchingNextPage: boolean
  readonly isFetchNextPageError: boolean
  fetchNextPage(): Promise<unknown>
}

/** Of a list that is asked for in pages. */
export function moreOf(query: PagedQuery): More {
  if (!query.hasNextPage) return undefined
  return {
    isLoading: query.isFetchingNextPage,
    hasFailed: query.isFetchNextPageError,
    load: () => void query.fetchNextPage(),
  }
}

const features = tableFeatures({ columnVisibilityFeature, columnSizingFeature })

export function DataTable<Row extends RowData>(props: TableProps<Row>) {
  const isPhone = useIsPhone()
  if (props.rows.length === 0 && props.more === undefined) return props.empty
  if (isPhone) return <Cards {...props} />
  // Each row is a stop of the Tab key, and a list that loads more as one moves has no end.
  const isLong = props.more !== undefined || props.rows.length > 50
  return isLong ? <Skippable>{<Grid {...props} />}</Skippable> : <Grid {...props} />
}

function Skippable({ children }: { readonly children: ReactNode }) {
  const end = useRef<HTMLSpanElement>(null)
  return (
    <>
      <button
        type="button"
        className="sr-only focus:not-sr-only focus:!px-4 focus:!py-2"
        onClick={() => end.current?.focus()}
      >
        <Trans>Skip the list</Trans>
      </button>
      {children}
      <span ref={end} tabIndex={-1} />
    </>
  )
}

/** The columns that were chosen; the same array as long as they are the same. */
function useShown<Row extends RowData>({ id, columns, rows, rowId }: TableProps<Row>) {
  const { visibility } = useColumnChoice(id, columns)
  const definitions = useMemo(
    () =>
      columns.map(
        (column): ColumnDef<typeof features, Row> => ({
          id: column.id,
          ...(column.width !== undefined && { size: column.width }),
          meta: column,
        }),
      ),
    [columns],
  )
  const data = useMemo(() => [...rows], [rows])
  const table = useTable({
    features,
    columns: definitions,
    data,
    getRowId: rowId,
    state: { columnVisibility: visibility },
  })
  const ids = table
    .getVisibleLeafColumns()
    .map(({ id }) => id)
    .join()
  return useMemo(
    () => ids.split(',').flatMap((id) => columns.find((column) => column.id === id) ?? []),
    [columns, ids],
  )
}

function Grid<Row extends RowData>(props: TableProps<Row>) {
  const { label, rows, rowId, totals, height, more, selection, openId, highlightedId } = props
  const shown = useShown(props)
  const { scroller, seen, first, before, after } = useSeen(props)
  // Some rows may not be drawn: readers by ear are told the place of each, with those of the head.
  const heads = totals === undefined ? 1 : 2
  const span = shown.length + (selection === undefined ? 0 : 1)
  const latest = useRef(props)
  useEffect(() => {
    latest.current = props
  })
  const open = useCallback((row: Row) => latest.current.onOpen?.(row), [])
  const select = useCallback((id: string, isSelected: boolean) => {
    const selection = latest.current.selection
    selection?.onChange(changed(selection.ids, id, isSelected))
  }, [])
  return (
    // A region that scrolls must be reachable by the keyboard.
    <div
      ref={scroller}
      role="region"
      aria-label={label}
      tabIndex={0}
      className="overflow-auto"
      style={height === undefined ? undefined : { maxHeight: height }}
    >
      <table
        aria-label={label}
        aria-rowcount={more === undefined ? heads + rows.length : -1}
        className="w-full border-collapse text-cell [&_tr>:first-child]:pl-4 [&_tr>:last-child]:pr-4"
      >
        <thead className="sticky top-0 z-10 bg-surface">
          <tr aria-rowindex={1}>
            {selection !== undefined && <SelectAll {...props} selection={selection} />}
            {shown.map((column) => (
              <Head key={column.id} column={column} {...props} />
            ))}
          </tr>
          {totals !== undefined && (
            <Totals totals={totals} shown={shown} isSelectable={selection !== undefined} />
          )}
        </thead>
        <tbody>
          {before > 0 && <Gap height={before} span={span} />}
          {seen.map((row, index) => {
            const id = rowId(row)
            return (
              <Line
                key={id}
                id={id}
                name={props.rowName?.(row) ?? id}
                row={row}
                place={first + heads + index + 1}
                shown={shown}
                isOpen={id === openId}
                isHighlighted={id === highlightedId}
                isSelected={selection?.ids.has(id)}
                onOpen={props.onOpen === undefined ? undefined : open}
                onSelect={select}
              />
            )
          })}
          {after > 0 && <Gap height={after} span={span} />}
        </tbody>
      </table>
      <ShowMore more={more} />
    </div>
  )
}

interface TotalsProps<Row> {
  readonly totals: Readonly<Record<string, ReactNode>>
  readonly shown: readonly Column<Row>[]
  readonly isSelectable: boolean
}

function Totals<Row>({ totals, shown, isSelectable }: TotalsProps<Row>) {
  return (
    <tr aria-rowindex={2} className="bg-sunken font-medium">
      {isSelectable && <td />}
      {shown.map(({ id, align }) => (
        <td
          key={id}
          className={`h-8 px-3 whitespace-nowrap ${align === 'right' ? 'text-right' : ''}`}
        >
          {totals[id]}
        </td>
      ))}
    </tr>
  )
}

function Gap({ height, span }: { readonly height: number; readonly span: number }) {
  return (
    <tr aria-hidden="true">
      <td colSpan={span} style={{ height }} />
    </tr>
  )
}

/** Asks for the next page; nothing after the last. */
export function ShowMore({ more }: { readonly more: More }) {
  if (more === undefined) return null
  return (
    <div className="flex justify-center p-3">
      <Button busy={more.isLoading} onClick={more.load}>
        <Trans>Show more</Trans>
      </Button>
    </div>
  )
}

function Head<Row extends RowData>({
  column,
  sort,
  onSort,
}: TableProps<Row> & { readonly column: Column<Row> }) {
  const isSorted = sort?.by === column.id
  const right = column.align === 'right'
  return (
    <th
      scope="col"
      aria-sort={isSorted ? (sort.descending ? 'descending' : 'ascending') : undefined}
      style={column.width === undefined ? undefined : { width: column.width }}
      className={`h-8 border-b border-border px-3 text-label whitespace-nowrap text-text-2 ${right ? 'text-right' : 'text-left'}`}
    >
      {column.sortable === true && onSort !== undefined ? (
        <button
          type="button"
          className={`inline-flex min-h-6 items-center gap-1 hover:text-text ${right ? 'flex-row-reverse' : ''}`}
          onClick={() => onSort({ by: column.id, descending: isSorted ? !sort.descending : true })}
        >
          {column.header}
          {isSorted && <Icon name={sort.descending ? 'down' : 'up'} size={12} />}
        </button>
      ) : (
        column.header
      )}
    </th>
  )
}

interface LineProps<Row> {
  readonly id: string
  readonly name: string
  readonly row: Row
  readonly place: number
  readonly shown: readonly Column<Row>[]
  readonly isOpen: boolean
  readonly isHighlighted: boolean
  /** undefined: rows cannot be selected. */
  readonly isSelected: boolean | undefined
  readonly onOpen: ((row: Row) => void) | undefined
  readonly onSelect: (id: string, isSelected: boolean) => void
}

/** Drawn again only where something of the row itself has changed: opening one leaves all the others alone. */
const Line = memo(PlainLine) as typeof PlainLine

function PlainLine<Row extends RowData>(props: LineProps<Row>) {
  const { id, name, row, place, shown, isOpen, isHighlighted, isSelected, onOpen, onSelect } = props
  const element = useRef<HTMLTableRowElement>(null)
  useEffect(() => {
    if (isOpen) element.current?.scrollIntoView({ block: 'nearest' })
  }, [isOpen])
  return (
    <tr
      ref={element}
      data-id={id}
      aria-rowindex={place}
      aria-selected={isOpen || undefined}
      tabIndex={onOpen === undefined ? undefined : 0}
      onClick={(event) => {
        // A link or a button in the row does what it says.
        if (!(event.target as Element).closest('a, button, input, label')) onOpen?.(row)
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && event.target === event.currentTarget) onOpen?.(row)
      }}
      className={`border-b border-border last:border-b-0 ${onOpen === undefined ? '' : 'cursor-pointer'} ${isOpen || isHighlighted ? 'bg-accent/8' : 'hover:bg-sunken'}`}
    >
      {isSelected !== undefined && (
        <td className="w-8 pl-3">
          <Select id={id} name={name} isSelected={isSelected} onSelect={onSelect} />
        </td>
      )}
      {shown.map((column) => (
        <td
          key={column.id}
          style={{ height: 'var(--row-height)' }}
          className={`max-w-80 truncate px-3 whitespace-nowrap ${column.align === 'right' ? 'tabular text-right' : ''} ${column.isName === true ? 'min-w-36' : column.isLong === true ? 'min-w-24' : ''}`}
        >
          {column.isLong === true ? <Cut>{column.cell(row)}</Cut> : column.cell(row)}
        </td>
      ))}
    </tr>
  )
}

/** As wide as its content where there is room, else as narrow as its column. */
function Cut({ children }: { readonly children: ReactNode }) {
  return (
    <div className="grid grid-cols-[minmax(0,max-content)]">
      <div
        className="truncate"
        onPointerEnter={({ currentTarget }) => {
          const { scrollWidth, clientWidth, textContent } = currentTarget
          currentTarget.title = scrollWidth > clientWidth ? textContent : ''
        }}
      >
        {children}
      </div>
    </div>
  )
}

type Selection = NonNullable<TableProps<RowData>['selection']>

function changed(ids: ReadonlySet<string>, id: string, isSelected: boolean): ReadonlySet<string> {
  const next = new Set(ids)
  if (isSelected) next.add(id)
  else next.delete(id)
  return next
}

interface SelectProps {
  readonly id: string
  readonly name: string
  readonly isSelected: boolean
  readonly onSelect: (id: string, isSelected: boolean) => void
}

function Select({ id, name, isSelected, onSelect }: SelectProps) {
  const { t } = useLingui()
  return (
    <input
      type="checkbox"
      aria-label={t`Select ${name}`}
      className="block size-4 accent-accent"
      checked={isSelected}
      onChange={(event) => onSelect(id, event.target.checked)}
    />
  )
}

function SelectAll<Row extends RowData>({
  rows,
  rowId,
  selection,
}: TableProps<Row> & { readonly selection: Selection }) {
  const { t } = useLingui()
  const isAll = rows.length > 0 && rows.every((row) => selection.ids.has(rowId(row)))
  return (
    <th scope="col" className="w-8 border-b border-border pl-3 text-left">
      <input
        type="checkbox"
        aria-label={t`Select all that are shown`}
        className="block size-4 accent-accent"
        checked={isAll}
        onChange={() => selection.onChange(new Set(isAll ? [] : rows.map(rowId)))}
      />
    </th>
  )
}

function Cards<Row extends RowData>(props: TableProps<Row>) {
  const { label, rows, rowId, onOpen, openId, more, card, selection } = props
  const { firstCards = rows.length } = props
  const [added, setAdded] = useState(0)
  const opened = rows.findIndex((row) => rowId(row) === openId)
  const shown = Math.max(firstCards + added, opened + 1)
  const rest = { isLoading: false, hasFailed: false, load: () => setAdded(shown - firstCards + 50) }
  return (
    <>
      <ul aria-label={label} className="divide-y divide-border">
        {rows.slice(0, shown).map((row) => {
          const { title, facts } = card(row)
          const id = rowId(row)
          const body = (
            <>
              <span className="flex items-center justify-between gap-2">{title}</span>
              <span className="mt-1 flex flex-wrap gap-x-4 text-label text-text-2">
                {facts.map((fact, index) => fact !== null && <span key={index}>{fact}</span>)}
              </span>
            </>
          )
          return (
            <li
              key={id}
              className={`flex items-start gap-2 px-4 py-2.5 ${id === openId ? 'bg-accent/8' : ''}`}
            >
              {selection !== undefined && (
                <Select
                  id={id}
                  name={props.rowName?.(row) ?? id}
                  isSelected={selection.ids.has(id)}
                  onSelect={(id, isSelected) =>
                    selection.onChange(changed(selection.ids, id, isSelected))
                  }
                />
              )}
              {onOpen === undefined ? (
                <div className="min-w-0 flex-1">{body}</div>
              ) : (
                <div
                  role="button"
                  tabIndex={0}
                  className="min-w-0 flex-1"
                  onClick={(event) => {
                    if ((event.target as Element).closest('a, button, input') === null) onOpen(row)
                  }}
                  onKeyDown={(event) => {
                    if (event.target !== event.currentTarget) return
                    if (event.key !== 'Enter' && event.key !== ' ') return
                    event.preventDefault()
                    onOpen(row)
                  }}
                >
                  {body}
                </div>
              )}
            </li>
          )
        })}
      </ul>
      <ShowMore more={shown < rows.length ? rest : more} />
    </>
  )
}
