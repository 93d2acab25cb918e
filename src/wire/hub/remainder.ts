// Divides a vendor's sum into disjoint kinds.

/** Takes parts out of a count one after another, none of them beyond what is left. */
export class Remainder {
  left: number

  constructor(whole: number) {
    this.left = whole
  }

  take(wanted: number): number {
    const taken = Math.min(this.left, Math.max(0, wanted))
    this.left -= taken
    return taken
  }
}
