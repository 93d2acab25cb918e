// Frees the memory of large reads as soon as their bytes are sent: the garbage collector would do so much later.

/** Smaller reads are left to the garbage collector. */
const leastBytes = 65_536
const reads = new WeakSet<ArrayBufferLike>()

/** Registers a read that reaches to the end of its buffer; nothing before it in the buffer may be used any more. */
export function noteRead({ buffer, byteOffset, length }: Uint8Array): void {
  if (length >= leastBytes && byteOffset + length === buffer.byteLength) reads.add(buffer)
}

/**
 * Frees the buffer of a registered read that ends in these bytes; does nothing for other bytes. Only the sole owner of
 * the read may call it, when no part is needed any more: all views of the buffer are empty afterwards.
 */
export function giveBack(bytes: Uint8Array): void {
  const { buffer, byteOffset, length } = bytes
  if (byteOffset + length < buffer.byteLength || !reads.delete(buffer)) return
  if (buffer instanceof ArrayBuffer) buffer.transfer(0)
}
