//! Products of matrices whose rows lie one after the other.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// Rows of a matrix inside a slice: `stride` values from the start of one to the start of the next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows<'values> {
    pub(crate) values: &'values [f32],
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) stride: usize,
}

impl<'values> Rows<'values> {
    /// Rows with nothing between them.
    pub(crate) fn dense(values: &'values [f32], rows: usize, columns: usize) -> Self {
        Self { values, rows, columns, stride: columns }
    }

    /// The library reads rows as the columns of the transposed matrix, which costs nothing. Its views by rows are not
    /// used: products through them came out wrong (version 0.24), as the tests below would show.
    fn transposed(self) -> MatRef<'values, f32> {
        let used = span(self.rows, self.columns, self.stride);
        MatRef::from_column_major_slice_with_stride(
            &self.values[..used],
            self.columns,
            self.rows,
            self.stride,
        )
    }
}

/// Values from the first of the first row to the last of the last.
fn span(rows: usize, columns: usize, stride: usize) -> usize {
    rows.saturating_sub(1) * stride + columns
}

/// What is done with the values that are there before a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Before {
    /// The product replaces them.
    Replaced,
    /// The product is added to them.
    AddedTo,
}

/// `target = scale · left · right`. One thread: several texts are worked on at the same time.
pub(crate) fn multiply(
    target: &mut [f32],
    stride: usize,
    left: Rows<'_>,
    right: Rows<'_>,
    scale: f32,
    before: Before,
) {
    product(target, stride, left, right.transposed(), right.columns, scale, before);
}

/// `target = scale · left · rightᵀ`.
pub(crate) fn multiply_by_transposed(
    target: &mut [f32],
    stride: usize,
    left: Rows<'_>,
    right: Rows<'_>,
    scale: f32,
    before: Before,
) {
    product(target, stride, left, right.transposed().transpose(), right.rows, scale, before);
}

/// `targetᵀ = rightᵀ · leftᵀ`.
fn product(
    target: &mut [f32],
    stride: usize,
    left: Rows<'_>,
    right_transposed: MatRef<'_, f32>,
    columns: usize,
    scale: f32,
    before: Before,
) {
    let used = span(left.rows, columns, stride);
    let target = MatMut::from_column_major_slice_with_stride_mut(
        &mut target[..used],
        columns,
        left.rows,
        stride,
    );
    let accumulation = match before {
        Before::Replaced => Accum::Replace,
        Before::AddedTo => Accum::Add,
    };
    matmul(target, accumulation, right_transposed, left.transposed(), scale, Par::Seq);
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNTOUCHED: f32 = 12_345.0;

    fn values(count: usize, step: usize) -> Vec<f32> {
        (0..count).map(|index| (index * step % 101) as f32 * 0.01 - 0.4).collect()
    }

    /// Multiplies with gaps between rows and room on both sides, and compares with the definition.
    fn check(
        rows: usize,
        inner: usize,
        columns: usize,
        gap: usize,
        transposed: bool,
        before: Before,
    ) {
        const ROOM: usize = 512;
        let (left_values, right_values) =
            (values(rows * (inner + gap), 7919), values((inner + gap) * (columns + gap), 104_729));
        let left = Rows { values: &left_values, rows, columns: inner, stride: inner + gap };
        let right = if transposed {
            Rows { values: &right_values, rows: columns, columns: inner, stride: inner + gap }
        } else {
            Rows { values: &right_values, rows: inner, columns, stride: columns + gap }
        };
        let stride = columns + gap;
        let mut target = vec![UNTOUCHED; ROOM + rows * stride + ROOM];
        let multiplied = if transposed { multiply_by_transposed } else { multiply };
        multiplied(&mut target[ROOM..], stride, left, right, 0.5, before);
        for (index, value) in target.iter().enumerate() {
            let place = index.checked_sub(ROOM).map(|place| (place / stride, place % stride));
            let expected = match place {
                Some((row, column)) if row < rows && column < columns => {
                    let term = |step: usize| {
                        let right_place = if transposed {
                            column * right.stride + step
                        } else {
                            step * right.stride + column
                        };
                        f64::from(left_values[row * left.stride + step])
                            * f64::from(right_values[right_place])
                    };
                    let product = 0.5 * (0..inner).map(term).sum::<f64>();
                    if before == Before::AddedTo { product + f64::from(UNTOUCHED) } else { product }
                }
                _ => f64::from(UNTOUCHED),
            };
            let near = (f64::from(*value) - expected).abs() <= 1e-5 + expected.abs() * 1e-6;
            assert!(
                near,
                "{rows}×{inner}×{columns}, gap {gap}: {value} for {expected} at {place:?}"
            );
        }
    }

    #[test]
    fn products_are_right_in_every_shape_and_touch_nothing_else() {
        for rows in (1..20).chain([31, 64, 129]) {
            for (inner, columns) in [(32, rows), (rows, 32), (48, 96), (5, 7), (1, 3), (3, 1)] {
                for gap in [0, 13] {
                    for transposed in [false, true] {
                        check(rows, inner, columns, gap, transposed, Before::Replaced);
                        check(rows, inner, columns, gap, transposed, Before::AddedTo);
                    }
                }
            }
        }
    }
}
