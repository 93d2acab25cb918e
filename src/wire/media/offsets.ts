// Collects, while a prompt is checked, the offsets of its parts that are not text.

export interface AttachmentOffsets {
  /** Offsets in bytes of the body; undefined where there are none. */
  attachments: number[] | undefined
}

export function addAttachment(offsets: AttachmentOffsets, at: number): void {
  offsets.attachments ??= []
  offsets.attachments.push(at)
}
