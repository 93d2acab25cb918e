// Files of a message: pictures shown small, others by name.

import { Trans, useLingui } from '@lingui/react/macro'
import { IconButton } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import type { Attachment } from './chat.ts'

interface AttachmentListProps {
  readonly attachments: readonly Attachment[]
  readonly onRemove?: (place: number) => void
}

export function AttachmentList({ attachments, onRemove }: AttachmentListProps) {
  const { t } = useLingui()
  if (attachments.length === 0) return null
  return (
    <ul aria-label={t`Attachments`} className="flex flex-wrap gap-2">
      {attachments.map(({ name, part, preview }, place) => (
        <li
          key={`${place} ${name}`}
          className="flex items-center gap-1.5 rounded-control border border-border bg-surface px-2 py-1 text-cell"
        >
          {preview === null ? (
            <Icon name="docs" />
          ) : (
            <img src={preview} alt={name} className="max-h-16 rounded" />
          )}
          <span className="max-w-40 truncate">{name}</span>
          {part === null && (
            <span className="text-text-3">
              <Trans>not kept</Trans>
            </span>
          )}
          {onRemove !== undefined && (
            <IconButton
              icon="close"
              label={t`Remove ${name}`}
              className="size-6"
              onClick={() => onRemove(place)}
            />
          )}
        </li>
      ))}
    </ul>
  )
}
