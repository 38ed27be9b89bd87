// Functions that are called after each change.

/** The listeners of a value that changes. */
export class Listeners<Change> {
  private readonly listeners = new Set<(change: Change) => void>();
  private changes = 0;

  /** The number of changes so far. */
  get count(): number {
    return this.changes;
  }

  /** Add a listener; returns a function that removes it. */
  add(listener: (change: Change) => void): () => void {
    // A value of its own, so that the same function may be added twice.
    const added = (change: Change) => listener(change);
    this.listeners.add(added);
    return () => void this.listeners.delete(added);
  }

  /** Call all listeners in order. One that throws does not stop the others: its error is reported as uncaught. */
  call(change: Change): void {
    this.changes += 1;
    for (const listener of [...this.listeners]) {
      try {
        listener(change);
      } catch (error) {
        setTimeout(() => {
          throw error;
        });
      }
    }
  }
}
