module statistics
  implicit none
contains

  !> The sum of the squares of the values.
  pure real function sum_of_squares(values)
    real, intent(in) :: values(:)
    integer :: i
    sum_of_squares = 0.0
    do i = 1, size(values)
      sum_of_squares = sum_of_squares + <|>
    end do
  end function sum_of_squares

end module statistics
