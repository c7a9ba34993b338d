/** Seeded random numbers, so that a failure can be run again. */
export class Random {
  constructor(private seed: number) {}

  /** A whole number from 0 to `limit - 1`. */
  below(limit: number): number {
    this.seed = (Math.imul(this.seed, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((this.seed / 2 ** 32) * limit);
  }

  lines(most: number, alphabet: string): string[] {
    return Array.from({ length: this.below(most + 1) }, () => alphabet.charAt(this.below(alphabet.length)));
  }
}
