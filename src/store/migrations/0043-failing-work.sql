-- What is done beside requests and fails at the moment, as the process that tried last said.

CREATE TABLE failing_work (
  -- archive, export
  work TEXT NOT NULL,
  -- Which of several; '' where there is one.
  subject TEXT NOT NULL,
  failure TEXT NOT NULL,
  -- Unix milliseconds: of its first failure in a row, and of its last.
  since BIGINT NOT NULL,
  last_at BIGINT NOT NULL,
  PRIMARY KEY (work, subject)
);
