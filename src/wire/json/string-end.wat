;; Finds where a JSON string ends, 32 bytes at a time. `npm run wasm` writes string-end-code.ts from it.
;;
;; find($end, $carried): the offset of the first quote in memory [0, $end) that no backslash escapes; else -1, or -2
;; where the byte at $end is escaped. $carried: 1 where the byte at 0 is. Up to 32 bytes from $end on are read and must be 0.
;;
;; Of each block two masks are made, bit i for byte i: quotes, backslashes. A byte behind a run of backslashes is escaped
;; where the run is odd: where it starts at an even place and ends before an odd one, or the other way round. Added to the
;; backslashes the starts of runs carry to the place behind each run.
(module
  (memory (export "memory") 1)
  (func (export "find") (param $end i32) (param $carried i32) (result i32)
    (local $at i32) (local $quote v128) (local $backslash v128) (local $low v128) (local $high v128)
    (local $quotes i64) (local $backslashes i64) (local $starts i64) (local $escaped i64) (local $carry i64)
    i32.const 34
    i8x16.splat
    local.set $quote
    i32.const 92
    i8x16.splat
    local.set $backslash
    local.get $carried
    i64.extend_i32_u
    local.set $carry
    block $nowhere
      loop $block
        local.get $at
        local.get $end
        i32.ge_u
        br_if $nowhere
        local.get $at
        v128.load
        local.tee $low
        local.get $quote
        i8x16.eq
        i8x16.bitmask
        i64.extend_i32_u
        local.get $at
        v128.load offset=16
        local.tee $high
        local.get $quote
        i8x16.eq
        i8x16.bitmask
        i64.extend_i32_u
        i64.const 16
        i64.shl
        i64.or
        local.set $quotes
        local.get $low
        local.get $backslash
        i8x16.eq
        i8x16.bitmask
        i64.extend_i32_u
        local.get $high
        local.get $backslash
        i8x16.eq
        i8x16.bitmask
        i64.extend_i32_u
        i64.const 16
        i64.shl
        i64.or
        local.tee $backslashes
        local.get $carry
        i64.or
        i64.eqz
        i32.eqz
        if $escapes
          ;; An escaped backslash escapes nothing.
          local.get $backslashes
          local.get $carry
          i64.const -1
          i64.xor
          i64.and
          local.tee $backslashes
          local.get $backslashes
          i64.const 1
          i64.shl
          i64.const -1
          i64.xor
          i64.and
          local.set $starts
          ;; Runs that start at an even place and end before an odd one.
          local.get $starts
          i64.const 0x5555555555555555
          i64.and
          local.get $backslashes
          i64.add
          i64.const -0x5555555555555556
          i64.and
          ;; Runs that start at an odd place and end before an even one.
          local.get $starts
          i64.const -0x5555555555555556
          i64.and
          local.get $backslashes
          i64.add
          i64.const 0x5555555555555555
          i64.and
          i64.or
          local.get $backslashes
          i64.const -1
          i64.xor
          i64.and
          local.tee $escaped
          local.get $carry
          i64.or
          i64.const -1
          i64.xor
          local.get $quotes
          i64.and
          local.set $quotes
          local.get $escaped
          i64.const 32
          i64.shr_u
          local.set $carry
        end
        local.get $quotes
        i64.eqz
        i32.eqz
        if $found
          local.get $quotes
          i64.ctz
          i32.wrap_i64
          local.get $at
          i32.add
          return
        end
        local.get $at
        i32.const 32
        i32.add
        local.set $at
        br $block
      end
    end
    i32.const -1
    local.get $carry
    i32.wrap_i64
    i32.sub
  )
)
