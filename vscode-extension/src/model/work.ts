/** Whether the server works: a command runs, and does not wait for what the user answers. */
export class Work {
  private nRunning = 0;
  private nQuestions = 0;

  get isWorking(): boolean {
    return this.nRunning > this.nQuestions;
  }

  /** A command begins; call what is returned when it ends. */
  begin(): () => void {
    this.nRunning += 1;
    return () => {
      this.nRunning -= 1;
    };
  }

  /** A command asks the user; call what is returned when that is answered. */
  ask(): () => void {
    // What a message's button begins asks, too: no command waits for that answer.
    const nAsked = this.nRunning > this.nQuestions ? 1 : 0;
    this.nQuestions += nAsked;
    return () => {
      this.nQuestions -= nAsked;
    };
  }
}
